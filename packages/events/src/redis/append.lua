--[[
  Appends events to the log of one workflow. A fragment: it only defines `append_events`, and what a script looks at
  before it writes, so that another script can start with this text and append in the same atomic step as its own
  writes.

    stream       key of the event stream, a KEYS entry of the calling script
    meta         key of its hash (seq, ms, end, k:<append key>), a KEYS entry of the calling script
    channel      pub/sub channel that is told the newest seq; no key
    keep         number: how many events stay; 0 = nothing is trimmed
    events_json  array of {"k": "<append key or empty>", "e": "<event as JSON text>", "z": true on STREAM_END}

  An entry whose key is known is skipped, and so is everything after STREAM_END: it is the last event of a log.
  Ids are <ms>-<seq>: seq counts from 1 without gaps, ms is the clock of Redis but never less than the last one.
  The event is a string inside the JSON: cjson must not encode it again (it would turn [] into {}, and 1.0 into 1).

  Returns the number of events appended.
]]

--[[
  Scripts do not roll back: before its first write each looks at the keys that it writes, so that one that holds
  something else leaves everything as it was. Raises UNREADABLE <key> …
]]
local function check_type(key, kind)
  local found = redis.call('TYPE', key)['ok']
  if found ~= 'none' and found ~= kind then
    error({ err = 'UNREADABLE ' .. key .. ' holds a ' .. found .. ', not a ' .. kind })
  end
end

-- The same for the log itself: without its numbers seq would begin anew.
local function check_log(stream, meta)
  check_type(stream, 'stream')
  check_type(meta, 'hash')
  local known = redis.call('HMGET', meta, 'seq', 'ms')
  local broken = (known[1] and not tonumber(known[1])) or (known[2] and not tonumber(known[2]))
  if broken or (not known[1] and redis.call('EXISTS', stream) == 1) then
    error({ err = 'UNREADABLE ' .. meta .. ' does not hold the numbers of its log' })
  end
end

local function append_events(stream, meta, channel, keep, events_json)
  local known = redis.call('HMGET', meta, 'seq', 'ms', 'end')
  local seq, ms, ended = tonumber(known[1] or 0), tonumber(known[2] or 0), known[3]
  local time = redis.call('TIME')
  ms = math.max(ms, tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))

  local appended = 0
  for _, entry in ipairs(cjson.decode(events_json)) do
    if ended then break end
    if entry.k == '' or redis.call('HSETNX', meta, 'k:' .. entry.k, '1') == 1 then
      seq = seq + 1
      appended = appended + 1
      redis.call('XADD', stream, string.format('%.0f-%.0f', ms, seq), 'e', entry.e)
      if entry.z then
        ended = true
        redis.call('HSET', meta, 'end', string.format('%.0f', seq))
      end
    end
  end
  if appended == 0 then return 0 end

  redis.call('HSET', meta, 'seq', string.format('%.0f', seq), 'ms', string.format('%.0f', ms))
  if keep > 0 then redis.call('XTRIM', stream, 'MAXLEN', '=', keep) end
  redis.call('PUBLISH', channel, string.format('%.0f', seq))
  return appended
end
