--[[
  Takes a task out of its owner's lists, and the session with it when it was the only task there.

    KEYS     as in index-task.lua
    ARGV[1]  task id   ARGV[2]  created (ms); an entry with another score is a newer task of that id and stays
    ARGV[3]  session id

  Returns 1 when it was in the lists.
]]
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or -1) ~= tonumber(ARGV[2]) then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[1])
if redis.call('ZCARD', KEYS[4]) == 0 then
  redis.call('DEL', KEYS[3], KEYS[5], KEYS[6])
  redis.call('ZREM', KEYS[2], ARGV[3])
end
return 1
