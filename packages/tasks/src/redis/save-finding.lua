--[[
  Keeps what was found for a question, unless something else than expected stands there.

    KEYS[1]  findings of a task (hash)
    ARGV[1]  question id   ARGV[2]  the finding as JSON
    ARGV[3]  the text that may be replaced; '' = none   ARGV[4]  seconds for which the findings are kept

  Returns the text that stands now.
]]
local standing = redis.call('HGET', KEYS[1], ARGV[1])
if not standing or standing == ARGV[3] then
  standing = ARGV[2]
  redis.call('HSET', KEYS[1], ARGV[1], standing)
end
redis.call('EXPIRE', KEYS[1], ARGV[4])
return standing
