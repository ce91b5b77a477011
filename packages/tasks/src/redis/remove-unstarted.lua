--[[
  Takes back the record of a task whose start certainly failed.

    KEYS[1]  record (hash)
    ARGV[1]  version of the stored shape
    ARGV[2]  token of the attempt that takes it back

  Returns 'removed', 'absent', 'version', or 'kept' where the record carries another token or has started.
]]
local version, token, confirmed, status =
  unpack(redis.call('HMGET', KEYS[1], 'v', 'start_token', 'start_confirmed', 'status'))

if redis.call('EXISTS', KEYS[1]) == 0 then return 'absent' end
if version ~= ARGV[1] then return 'version' end
if token ~= ARGV[2] or confirmed == '1' or status ~= 'TASK_STATUS_QUEUED' then return 'kept' end
redis.call('DEL', KEYS[1])
return 'removed'
