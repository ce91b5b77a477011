--[[
  Takes a task out of the index of open ones, unless it entered again after `since`.

    KEYS[1]  open tasks (ZSET)
    ARGV[1]  task id   ARGV[2]  since (ms) as it was read

  Returns 1 when it left.
]]
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or -1) ~= tonumber(ARGV[2]) then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
