-- One atomic step of a review: compares the version, then writes state, plan, events and records together.
-- It compares and writes; it decides nothing. Starts with the fragment append.lua.
--
-- KEYS  1 review hash   2 commands hash   3 plans hash   4 event stream   5 event meta hash
--       6 idempotency record (the review hash where there is none)
-- ARGV  1 id of the command
--       2 version expected now; 0: the review must not exist
--       3 version after the step
--       4 channel of the events
--       5 events, as JSON for append_events
--       6 plan of this version as JSON, or empty
--       7 decision id that is undelivered from now on, or empty
--       8 idempotency record, or empty      9 its lifetime in seconds
--       10 … fields of the review hash and their values, in pairs
-- Returns {'committed', version} | {'repeated', version made by this command before} | {'moved', current version}

local made = redis.call('HGET', KEYS[2], ARGV[1])
if made then
  return { 'repeated', made }
end

local current = redis.call('HGET', KEYS[1], 'version') or '0'
if current ~= ARGV[2] then
  return { 'moved', current }
end

for i = 10, #ARGV, 2 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
end
if ARGV[7] ~= '' then
  redis.call('HSET', KEYS[1], 'undelivered', ARGV[7])
end
if ARGV[6] ~= '' then
  redis.call('HSET', KEYS[3], ARGV[3], ARGV[6])
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
if ARGV[8] ~= '' then
  redis.call('SET', KEYS[6], ARGV[8], 'EX', ARGV[9])
end
-- Events of a review are never trimmed here: all of them are kept while it is open.
append_events(KEYS[4], KEYS[5], ARGV[4], 0, ARGV[5])
return { 'committed', ARGV[3] }
