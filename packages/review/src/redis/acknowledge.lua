-- The workflow has the decision: it is undelivered no longer, and what follows from it is announced. An
-- acknowledgement that was lost may be made again. Starts with the fragment append.lua.
--
-- KEYS  1 review hash   2 event stream   3 event meta hash
-- ARGV  1 id of the decision   2 channel of the events   3 events, as JSON for append_events (all with keys)
-- Returns 1 where the decision was undelivered until now, else 0

check_type(KEYS[1], 'hash')
check_log(KEYS[2], KEYS[3])

local known = 0
if redis.call('HGET', KEYS[1], 'undelivered') == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'undelivered', 'sent', 'sent_ms')
  known = 1
end
append_events(KEYS[2], KEYS[3], ARGV[2], 0, ARGV[3])
return known
