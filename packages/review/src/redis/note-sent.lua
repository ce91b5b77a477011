-- Notes that a decision that the workflow has yet to acknowledge was sent to the engine.
--
-- KEYS  1 review hash
-- ARGV  1 id of the decision   2 now, in milliseconds

if redis.call('HGET', KEYS[1], 'undelivered') == ARGV[1] then
  redis.call('HINCRBY', KEYS[1], 'sent', 1)
  redis.call('HSET', KEYS[1], 'sent_ms', ARGV[2])
end
