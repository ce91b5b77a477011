--[[
  Removes a session that has no task any more.

    KEYS[1]  owner's sessions (ZSET)   KEYS[2]  session (hash)   KEYS[3]  session's tasks (ZSET)
    KEYS[4]  those of them that are not in its sums (ZSET)       KEYS[5]  its sums (hash)
    ARGV[1]  session id

  Returns 1 when it was removed.
]]
if redis.call('ZCARD', KEYS[3]) > 0 then return 0 end
redis.call('DEL', KEYS[2], KEYS[4], KEYS[5])
return redis.call('ZREM', KEYS[1], ARGV[1])
