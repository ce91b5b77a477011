-- Announces something of a review that waits for a person; nothing once it is closed. Starts with the fragment
-- append.lua.
--
-- KEYS  1 review hash   2 event stream   3 event meta hash
-- ARGV  1 channel of the events   2 events, as JSON for append_events
-- Returns 1 where the review is open, else 0

check_type(KEYS[1], 'hash')
check_log(KEYS[2], KEYS[3])

if redis.call('HGET', KEYS[1], 'status') ~= 'reviewing' then
  return 0
end
append_events(KEYS[2], KEYS[3], ARGV[1], 0, ARGV[2])
return 1
