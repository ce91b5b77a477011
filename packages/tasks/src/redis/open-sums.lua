--[[
  What a session knows of its tasks: the sums over some of them, and which ones are not in these.
  Nothing is taken for granted: where sums and rest do not come to the session's tasks (records have expired, or
  another version wrote the session, which keeps no sums), the sums begin anew with every task outside of them.

    KEYS[1]  session's tasks (ZSET)   KEYS[2]  those that are not in the sums (ZSET)   KEYS[3]  sums (hash)
    ARGV[1]  ms: entries that are older may have expired   ARGV[2]  how many tasks of each end to name

  Returns {expired, sums, rest, first, last}: how many entries may have expired, field, value, … of the sums, and
  task ids, oldest first.
]]
local first = redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1)
local summed, oldest = unpack(redis.call('HMGET', KEYS[3], 'tasks', 'oldest'))
local counted = (tonumber(summed) or 0) + redis.call('ZCARD', KEYS[2])
if counted ~= redis.call('ZCARD', KEYS[1]) or (oldest and oldest ~= first[1]) then
  redis.call('DEL', KEYS[3])
  redis.call('ZUNIONSTORE', KEYS[2], 1, KEYS[1])
end
return {
  redis.call('ZCOUNT', KEYS[1], '-inf', ARGV[1]),
  redis.call('HGETALL', KEYS[3]),
  redis.call('ZRANGE', KEYS[2], 0, -1),
  first,
  redis.call('ZRANGE', KEYS[1], -ARGV[2], -1)
}
