--[[
  Adds tasks to the sums of their session, each once, whoever else does the same.

    KEYS[1]  session's tasks (ZSET)   KEYS[2]  those that are not in the sums (ZSET)   KEYS[3]  sums (hash)
    ARGV     of each task: id, 1 for a success, 1 for a failure, tokens, cost, time of its end (RFC 3339)
]]
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
if not oldest then return end
-- First, because it fails where the key holds something else: then every task stays where it is.
redis.call('HSET', KEYS[3], 'oldest', oldest)
local added = { tasks = 0, successful = 0, failed = 0, tokens = 0 }
local cost, last = 0, redis.call('HGET', KEYS[3], 'last_end') or ''
for at = 1, #ARGV, 6 do
  if redis.call('ZREM', KEYS[2], ARGV[at]) == 1 then
    added.tasks = added.tasks + 1
    added.successful = added.successful + ARGV[at + 1]
    added.failed = added.failed + ARGV[at + 2]
    added.tokens = added.tokens + ARGV[at + 3]
    cost = cost + ARGV[at + 4]
    if last < ARGV[at + 5] then last = ARGV[at + 5] end
  end
end
for field, count in pairs(added) do redis.call('HINCRBY', KEYS[3], field, string.format('%.0f', count)) end
redis.call('HINCRBYFLOAT', KEYS[3], 'cost', string.format('%.17g', cost))
redis.call('HSET', KEYS[3], 'last_end', last)
