// Every operation is one script, so it happens at one instant. Both keys of an entry have one hash tag, so they are on one node of a
// cluster. A value is `<fence>:<bytes>`.

const helpers = `
-- runs a command, and names it if the user may not run it
local function call(command, ...)
  local reply = redis.pcall(command, ...)
  local problem = type(reply) == 'table' and reply.err
  if not problem then return reply end
  if string.find(problem, 'WRONGTYPE') then return false end
  if string.find(problem, "can't run this command") or string.find(problem, '^NOPERM') then
    problem = 'NOPERM ' .. string.lower(command)
  end
  error(problem, 0)
end
-- the text of a key, if it is a string with a time to live
local function text(key)
  local value, left = call('GET', key), call('PTTL', key)
  if value and left > 0 then return value, left end
end
-- only canonical decimal numbers that are exact, as this store writes them
local function fenceOf(value)
  local fence = value and tonumber(string.match(value .. ':', '^([1-9]%d*):')) or 0
  return fence <= 1e15 and fence or 0
end
-- KEYS: value, lease. ARGV: the maximum size. The value and the time in milliseconds
local function look()
  local value, time = text(KEYS[1]), call('TIME')
  if value and #value > tonumber(ARGV[1]) then value = nil end
  return value or false, string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end
local function release(owner)
  if text(KEYS[2]) == owner then call('DEL', KEYS[2]) end
end
`

/** The commands that are defined on a connection. The keys are the value and the lease of an entry. */
export const scripts = {
  /** ARGV: the maximum size. Returns the value and the time. */
  Read: `${helpers} return {look()}`,
  /** ARGV: the maximum size, owner, milliseconds, the highest fence that the owner has read. Returns the value, the time, and 1 if taken. */
  TakeLease: `${helpers}
local value, now = look()
local owner, left = text(KEYS[2])
-- no lease lasts longer than it was taken for
local isLent = owner and owner ~= ARGV[2] and left <= tonumber(ARGV[3])
if isLent or fenceOf(value) > tonumber(ARGV[4]) then return {value, now, 0} end
call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return {value, now, 1}`,
  /** ARGV: owner. */
  ReleaseLease: `${helpers} release(ARGV[1]) return 1`,
  /** ARGV: fence, bytes, the time at which the value ends, in milliseconds, and owner. Returns 1 if the value was written. */
  Publish: `${helpers}
local isWritten = fenceOf(text(KEYS[1])) <= tonumber(ARGV[1])
if isWritten then call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'PXAT', ARGV[3]) end
release(ARGV[4])
return isWritten and 1 or 0`
}
