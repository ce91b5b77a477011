--[[
  Puts another value in the place of the one that is expected.

    KEYS[1]  record
    ARGV[1]  value that is expected
    ARGV[2]  new value, '' = none: the key is removed
    ARGV[3]  its lifetime in ms

  Returns 1, or 0 where something else stands there.
]]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
