--[[
  Adds what one model call used, once per key. Also after the end: tokens that were used were used.

    KEYS[1]  record (hash)
    ARGV[1]  version of the stored shape
    ARGV[2]  key of the call, the same in every attempt
    ARGV[3]  input tokens   ARGV[4]  output tokens   ARGV[5]  estimated cost
    ARGV[6]  model          ARGV[7]  provider        ARGV[8]  time of the change

  Returns 'done', 'unchanged' (counted before), 'absent' or 'version'.
]]
local version, completed, input, output, cost =
  unpack(redis.call('HMGET', KEYS[1], 'v', 'completed_at', 'input_tokens', 'output_tokens', 'estimated_cost'))

if redis.call('EXISTS', KEYS[1]) == 0 then return 'absent' end
if version ~= ARGV[1] or not (tonumber(input) and tonumber(output) and tonumber(cost)) then return 'version' end
if redis.call('HSETNX', KEYS[1], 'usage:' .. ARGV[2], '1') == 0 then return 'unchanged' end

redis.call('HINCRBY', KEYS[1], 'input_tokens', ARGV[3])
redis.call('HINCRBY', KEYS[1], 'output_tokens', ARGV[4])
redis.call('HINCRBYFLOAT', KEYS[1], 'estimated_cost', ARGV[5])
redis.call('HSET', KEYS[1], 'model_used', ARGV[6], 'provider', ARGV[7])
if not completed then redis.call('HSET', KEYS[1], 'updated_at', ARGV[8]) end
return 'done'
