-- Appends a refusal to the chain of refusals, if that still ends where the entry says.
--
-- KEYS  1 list of refusals
-- ARGV  1 entry as JSON   2 entry that it follows as JSON, or empty   3 most entries kept   4 lifetime in seconds
-- Returns 1, or 0 where the chain has grown meanwhile

local last = redis.call('LINDEX', KEYS[1], -1) or ''
if last ~= ARGV[2] then
  return 0
end
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], -tonumber(ARGV[3]), -1)
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
