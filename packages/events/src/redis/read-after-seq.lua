--[[
  Events after a seq. Ids are <ms>-<seq>, and both parts only grow, so the place of a seq is found by halving the
  range of ms.

    KEYS[1]  event stream
    ARGV[1]  seq; events after it are wanted
    ARGV[2]  how many at most

  Returns entries as XRANGE does.
]]
local stream, seq, limit = KEYS[1], tonumber(ARGV[1]), ARGV[2]

local function position(entries)
  if #entries == 0 then return nil end
  local ms, n = string.match(entries[1][1], '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(n)
end

local first_ms, first_seq = position(redis.call('XRANGE', stream, '-', '+', 'COUNT', 1))
local last_ms, last_seq = position(redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1))
if not first_ms or last_seq <= seq then return {} end
if first_seq > seq then return redis.call('XRANGE', stream, '-', '+', 'COUNT', limit) end

-- low: the first event at or after this ms has a seq up to the wanted one; high: the first one after it has not.
local low, high = first_ms, last_ms
while low < high do
  local middle = math.floor((low + high + 1) / 2)
  local _, n = position(redis.call('XRANGE', stream, string.format('%.0f-0', middle), '+', 'COUNT', 1))
  if n <= seq then low = middle else high = middle - 1 end
end
return redis.call('XRANGE', stream, string.format('%.0f-%.0f', low, seq + 1), '+', 'COUNT', limit)
