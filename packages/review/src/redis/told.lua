-- Notes that the engine was told of a decision that the workflow has yet to acknowledge.
--
-- KEYS  1 review hash
-- ARGV  1 id of the decision   2 now, in milliseconds

if redis.call('HGET', KEYS[1], 'undelivered') == ARGV[1] then
  redis.call('HINCRBY', KEYS[1], 'told', 1)
  redis.call('HSET', KEYS[1], 'told_ms', ARGV[2])
end
