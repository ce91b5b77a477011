--[[
  Changes fields of a task that has no end yet, and appends the events that announce the change in the same step.
  Starts with the text of the event log, which defines append_events.

    KEYS[1]  record (hash)
    KEYS[2]  event stream   KEYS[3]  its meta hash
    ARGV[1]  version of the stored shape
    ARGV[2]  statuses in which the change applies, separated by spaces; '' = any open one
    ARGV[3]  a field that must not be '1' yet; '' = none
    ARGV[4]  channel of the event log
    ARGV[5]  events as JSON; '' = none
    ARGV[6…] field, value, … to write

  Returns 'done', 'unchanged' (does not apply, or applied before), 'ended', 'absent' or 'version'.
]]
check_type(KEYS[1], 'hash')
check_log(KEYS[2], KEYS[3])

local version, status, completed = unpack(redis.call('HMGET', KEYS[1], 'v', 'status', 'completed_at'))

if redis.call('EXISTS', KEYS[1]) == 0 then return 'absent' end
if version ~= ARGV[1] or not status then return 'version' end
if completed then return 'ended' end
if ARGV[2] ~= '' and not string.find(' ' .. ARGV[2] .. ' ', ' ' .. status .. ' ', 1, true) then
  return 'unchanged'
end
if ARGV[3] ~= '' and redis.call('HGET', KEYS[1], ARGV[3]) == '1' then return 'unchanged' end

redis.call('HSET', KEYS[1], unpack(ARGV, 6))
if ARGV[5] ~= '' then append_events(KEYS[2], KEYS[3], ARGV[4], 0, ARGV[5]) end
return 'done'
