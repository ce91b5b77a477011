-- One atomic step of a review: compares the version, then writes state, plan, events and records together.
-- It compares and writes; it decides nothing. Starts with the fragment append.lua.
--
-- KEYS  1 review hash   2 commands hash   3 plans hash   4 event stream   5 event meta hash   6 audit list
--       7 lock of the feedback in flight   8 idempotency record (the review hash where there is none)
-- ARGV  1 id of the command
--       2 version expected now; 0: the review must not exist
--       3 version after the step
--       4 channel of the events
--       5 events, as JSON for append_events
--       6 plan of this version as JSON, or empty
--       7 decision id that is undelivered from now on; empty: as it is; '-': none is undelivered any more
--       8 audit entry as JSON      9 number of entries that it follows      10 lifetime of the audit in seconds
--       11 idempotency record, or empty      12 its lifetime in seconds
--          That of a decision goes when the decision is taken back (7 is '-'): its name stays in the review.
--       13 '1' where the step must not happen while a feedback is in flight
--       14 … fields of the review hash and their values, in pairs
-- Returns {'committed', version} | {'repeated', version made by this command before}
--       | {'moved', current version}: it is another one, or the audit has grown, or a feedback has begun
--       | {'over', current version}: the task has its end, no review is opened any more

check_type(KEYS[1], 'hash')
check_type(KEYS[2], 'hash')
check_type(KEYS[3], 'hash')
check_type(KEYS[6], 'list')
check_log(KEYS[4], KEYS[5])

local made = redis.call('HGET', KEYS[2], ARGV[1])
if made then
  return { 'repeated', made }
end

local current = redis.call('HGET', KEYS[1], 'version') or '0'
if current ~= ARGV[2] or redis.call('LLEN', KEYS[6]) ~= tonumber(ARGV[9]) then
  return { 'moved', current }
end
if ARGV[13] == '1' and redis.call('EXISTS', KEYS[7]) == 1 then
  return { 'moved', current }
end
if current == '0' and redis.call('HGET', KEYS[5], 'end') then
  return { 'over', current }
end

for i = 14, #ARGV, 2 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
end
if ARGV[7] == '-' then
  local idempotency = redis.call('HGET', KEYS[1], 'idempotency')
  if idempotency then
    redis.call('DEL', idempotency)
  end
end
if ARGV[7] ~= '' then
  redis.call('HDEL', KEYS[1], 'undelivered', 'told', 'told_ms', 'idempotency')
end
if ARGV[7] ~= '' and ARGV[7] ~= '-' then
  redis.call('HSET', KEYS[1], 'undelivered', ARGV[7])
end
if ARGV[6] ~= '' then
  redis.call('HSET', KEYS[3], ARGV[3], ARGV[6])
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
redis.call('RPUSH', KEYS[6], ARGV[8])
redis.call('EXPIRE', KEYS[6], ARGV[10])
if ARGV[11] ~= '' then
  redis.call('SET', KEYS[8], ARGV[11], 'EX', ARGV[12])
  if ARGV[7] ~= '' and ARGV[7] ~= '-' then
    redis.call('HSET', KEYS[1], 'idempotency', KEYS[8])
  end
end
-- Events of a review are never trimmed here: all of them are kept while it is open.
append_events(KEYS[4], KEYS[5], ARGV[4], 0, ARGV[5])
return { 'committed', ARGV[3] }
