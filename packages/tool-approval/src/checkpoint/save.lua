-- Keeps a thread if it still stands at the revision that its driver has seen. It compares and writes; it decides
-- nothing.
--
-- KEYS  1 thread hash
-- ARGV  1 revision expected now; empty: the thread must not exist
--       2 new revision   3 state as JSON   4 milliseconds for which the thread is held; 0 frees it
--       5 lifetime in milliseconds; 0: no end
-- Returns 1 where the thread stands at the new revision (also by an earlier try of this save), else 0

local current = redis.call('HGET', KEYS[1], 'revision') or ''
if current == ARGV[2] then
  return 1
end
if current ~= ARGV[1] then
  return 0
end
local held_until = 0
if tonumber(ARGV[4]) > 0 then
  local time = redis.call('TIME')
  held_until = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[4]
end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'state', ARGV[3], 'held_until', string.format('%.0f', held_until))
if tonumber(ARGV[5]) > 0 then
  -- A turn that runs is not forgotten, however short the lifetime is.
  redis.call('PEXPIRE', KEYS[1], ARGV[5] + ARGV[4])
end
return 1
