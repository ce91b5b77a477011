--[[
  Writes the record of a task unless there is one.

    KEYS[1]  record (hash)
    ARGV[1]  version of the stored shape
    ARGV[2]  token of this attempt
    ARGV[3]  tenant   ARGV[4]  user
    ARGV[5…] field, value, … of the record

  A record of the same owner whose start is not confirmed passes to this attempt: it carries the new token, so
  the attempt before can no longer take it back.

  Returns 'created', 'adopted', 'exists', or 'version' where the record has another shape.
]]
local version, tenant, user, token, confirmed, status =
  unpack(redis.call('HMGET', KEYS[1], 'v', 'tenant', 'user', 'start_token', 'start_confirmed', 'status'))

if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 5))
  return 'created'
end
if version ~= ARGV[1] or not status then return 'version' end
if tenant ~= ARGV[3] or user ~= ARGV[4] then return 'exists' end
if token == ARGV[2] then return 'created' end
if confirmed == '1' or status ~= 'TASK_STATUS_QUEUED' then return 'exists' end
redis.call('HSET', KEYS[1], 'start_token', ARGV[2])
return 'adopted'
