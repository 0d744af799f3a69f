// Every operation is one script, so it happens at one instant. All keys of an entry have one hash tag, so they are on one node of a
// cluster. A value is `<fence>:<bytes>`. A fence above `MAX_FENCE` was not written by this store.

const helpers = `
local MAX_FENCE = 1e15
-- the text of a key, if it is a string with a time to live
local function text(key)
  local value = redis.pcall('GET', key)
  local left = redis.call('PTTL', key)
  if type(value) ~= 'string' or left <= 0 then return false, 0 end
  return value, left
end
local function fenceOf(value)
  -- only canonical decimal numbers, as this store writes them
  local fence = value and tonumber(string.match(value .. ':', '^([1-9]%d*):')) or 0
  return fence <= MAX_FENCE and fence or 0
end
`

const slots = `
local function slot(key)
  local value, left = text(key)
  if not value or #value > tonumber(ARGV[1]) then return false end
  return {value, left}
end
local token, failure = slot(KEYS[1]), slot(KEYS[2])
`

/** KEYS: token, failure. ARGV: the maximum size. Returns the slots. */
export const read = `${helpers}${slots}
return {token, failure}
`

/**
 * KEYS: token, failure, lease, fence. ARGV: the maximum size, owner, milliseconds, the fence to exceed, the highest fence that the owner
 * has read, the life of the fence. Returns the slots, and the fence and the time if the lease was taken.
 */
export const takeLease = `${helpers}${slots}
local owner, left = text(KEYS[3])
-- no lease lasts longer than it was taken for
if owner and left <= tonumber(ARGV[3]) then return {token, failure} end
for _, found in ipairs({token or {}, failure or {}}) do
  if fenceOf(found[1]) > tonumber(ARGV[5]) then return {token, failure} end
end
local fence = tonumber(ARGV[4])
for _, key in ipairs({KEYS[1], KEYS[2], KEYS[4]}) do fence = math.max(fence, fenceOf(text(key))) end
local next = string.format('%.0f', fence + 1)
redis.call('SET', KEYS[4], next, 'PX', ARGV[6])
redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[3])
local time = redis.call('TIME')
return {token, failure, next, time[1] .. string.format('%06d', time[2])}
`

/** KEYS: lease. ARGV: owner, milliseconds. */
export const renewLease = `${helpers}
if text(KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`

/** KEYS: lease. ARGV: owner. */
export const releaseLease = `${helpers}
if text(KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`

/** KEYS: slot. ARGV: fence, bytes, the time at which it ends, in milliseconds. */
export const publish = `${helpers}
if fenceOf(text(KEYS[1])) > tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'PXAT', ARGV[3])
return 1
`
