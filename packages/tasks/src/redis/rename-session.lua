--[[
  Gives a session another title.

    KEYS[1]  session (hash)
    ARGV[1]  title   ARGV[2]  time of the change

  Returns 1, or 0 where there is no session.
]]
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'title', ARGV[1], 'updated_at', ARGV[2])
return 1
