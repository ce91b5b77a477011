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
--       13 '1' where the step must not happen while a feedback is in flight
--       14 … fields of the review hash and their values, in turn
-- Returns {'committed', version} | {'repeated', version made by this command before}
--       | {'moved', current version}: it is another one, or the audit has grown, or a feedback has begun
--       | {'over', current version}: the task has its end, no review is opened any more

local review, commands, plans, stream, meta, audit, lock, idempotency_key = unpack(KEYS)
local command_id, expected, version, channel, events, plan, undelivered = unpack(ARGV, 1, 7)
local entry, entries_before, audit_seconds = unpack(ARGV, 8, 10)
local record, record_seconds, excludes_feedback = unpack(ARGV, 11, 13)
local FIRST_FIELD = 14
local AS_IT_IS, NONE = '', '-'

check_type(review, 'hash')
check_type(commands, 'hash')
check_type(plans, 'hash')
check_type(audit, 'list')
check_log(stream, meta)

local made = redis.call('HGET', commands, command_id)
if made then
  return { 'repeated', made }
end

local current = redis.call('HGET', review, 'version') or '0'
if current ~= expected or redis.call('LLEN', audit) ~= tonumber(entries_before) then
  return { 'moved', current }
end
if excludes_feedback == '1' and redis.call('EXISTS', lock) == 1 then
  return { 'moved', current }
end
if current == '0' and redis.call('HGET', meta, 'end') then
  return { 'over', current }
end

for i = FIRST_FIELD, #ARGV, 2 do
  redis.call('HSET', review, ARGV[i], ARGV[i + 1])
end
if plan ~= '' then
  redis.call('HSET', plans, version, plan)
end
if record ~= '' then
  redis.call('SET', idempotency_key, record, 'EX', record_seconds)
end

if undelivered == NONE then
  -- What was decided does not hold any more: the record of its request must not answer for it.
  local of_decision = redis.call('HGET', review, 'idempotency')
  if of_decision then
    redis.call('DEL', of_decision)
  end
  redis.call('HDEL', review, 'undelivered', 'sent', 'sent_ms', 'idempotency')
elseif undelivered ~= AS_IT_IS then
  redis.call('HDEL', review, 'sent', 'sent_ms', 'idempotency')
  redis.call('HSET', review, 'undelivered', undelivered)
  if record ~= '' then
    redis.call('HSET', review, 'idempotency', idempotency_key)
  end
end

redis.call('HSET', commands, command_id, version)
redis.call('RPUSH', audit, entry)
redis.call('EXPIRE', audit, audit_seconds)
-- Events of a review are never trimmed here: all of them are kept while it is open.
append_events(stream, meta, channel, 0, events)
return { 'committed', version }
