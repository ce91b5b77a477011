--[[
  Puts a task into the lists of its owner, and into its session, which is made where there is none.

    KEYS[1]  owner's tasks (ZSET)     KEYS[2]  owner's sessions (ZSET)
    KEYS[3]  session (hash)           KEYS[4]  session's tasks (ZSET)
    KEYS[5]  those of them that are not in its sums (ZSET)   KEYS[6]  its sums (hash), used by unindex-task.lua
    ARGV[1]  task id   ARGV[2]  created (ms)   ARGV[3]  created (RFC 3339)
    ARGV[4]  session id   ARGV[5]  user   ARGV[6]  title of a new session
    ARGV[7]  ms: entries that are older may have expired   ARGV[8]  how many of them to name at most

  Returns {tasks, sessions}: the oldest entries of both lists that may have expired.
]]
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
if redis.call('ZADD', KEYS[4], ARGV[2], ARGV[1]) == 1 then redis.call('ZADD', KEYS[5], ARGV[2], ARGV[1]) end
redis.call('ZADD', KEYS[2], 'GT', ARGV[2], ARGV[4])
if redis.call('HSETNX', KEYS[3], 'session_id', ARGV[4]) == 1 then
  redis.call('HSET', KEYS[3], 'user', ARGV[5], 'title', ARGV[6], 'created_at', ARGV[3], 'updated_at', ARGV[3])
end
local last = redis.call('HGET', KEYS[3], 'last_activity_at')
if not last or last < ARGV[3] then redis.call('HSET', KEYS[3], 'last_activity_at', ARGV[3]) end
return {
  redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[7], 'LIMIT', 0, ARGV[8]),
  redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[7], 'LIMIT', 0, ARGV[8])
}
