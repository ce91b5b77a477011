--[[
  Writes the end of a task and appends its last events in the same step. The first end wins.
  Starts with the text of the event log, which defines append_events.

    KEYS[1]  record (hash)
    KEYS[2]  event stream   KEYS[3]  its meta hash
    ARGV[1]  version of the stored shape
    ARGV[2]  seconds for which the ended record is kept
    ARGV[3]  channel of the event log
    ARGV[4]  events as JSON
    ARGV[5…] field, value, … to write; completed_at is among them

  Returns {'ended' or 'stands', kind, status, error or false, completed_at} of the end that holds,
  {'absent'} or {'version'}.
]]
check_type(KEYS[1], 'hash')
check_log(KEYS[2], KEYS[3])

if redis.call('EXISTS', KEYS[1]) == 0 then return { 'absent' } end
local version, status = unpack(redis.call('HMGET', KEYS[1], 'v', 'status'))
if version ~= ARGV[1] or not status then return { 'version' } end

local outcome = 'stands'
if not redis.call('HGET', KEYS[1], 'completed_at') then
  outcome = 'ended'
  redis.call('HSET', KEYS[1], unpack(ARGV, 5))
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  append_events(KEYS[2], KEYS[3], ARGV[3], 0, ARGV[4])
end
return { outcome, unpack(redis.call('HMGET', KEYS[1], 'end_kind', 'status', 'error', 'completed_at')) }
