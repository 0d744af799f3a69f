import { maxValueSize } from "@credit-data/fleet/StoreEngine"

// Every operation is one script, so it happens at one instant. Both keys of an entry have one hash tag, so they are on one node of a
// cluster. A value is `<fence>:<bytes>`. Each script
// returns the value if it was read, the time in milliseconds, and whether it did what it is for.

/** The digits of the longest fence, which is an exact number. */
export const longestFence = 15

const helpers = `
-- runs a command, and names it if the user may not run it
local function call(command, ...)
  local reply = redis.pcall(command, ...)
  local problem = type(reply) == 'table' and reply.err
  if not problem then return reply end
  if string.find(problem, 'WRONGTYPE') then return false end
  if string.find(problem, "can't run this command") or string.find(problem, '^NOPERM') then
    problem = "NOPERM run the '" .. string.lower(command) .. "' command"
  end
  error(problem, 0)
end
-- the text of a key, if it is a string with a time to live
local function text(key)
  local value, left = call('GET', key), call('PTTL', key)
  if value and left > 0 then return value, left end
end
-- the value and its fence
local function read()
  local value = text(KEYS[1])
  local digits = value and string.match(value, '^([1-9]%d*):')
  local isOwn = digits and #digits <= ${longestFence} and #value - #digits <= ${maxValueSize + 1}
  if isOwn then return value, tonumber(digits) end
  return false, 0
end
local function release(owner)
  if text(KEYS[2]) == owner then call('DEL', KEYS[2]) end
end
local function reply(value, isDone)
  local time = call('TIME')
  return {value, string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)), isDone and '1' or '0'}
end
`

/** The commands that are defined on a connection. The keys are the value and the lease of an entry. */
export const scripts = {
  Read: `${helpers} return reply(read(), true)`,
  /** ARGV: owner, milliseconds, the highest fence that the owner has read. */
  TakeLease: `${helpers}
local value, fence = read()
local owner, left = text(KEYS[2])
-- no lease lasts longer than it was taken for
local isLent = owner and owner ~= ARGV[1] and left <= tonumber(ARGV[2])
local isTaken = not isLent and fence <= tonumber(ARGV[3])
if isTaken then call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2]) end
return reply(value, isTaken)`,
  /** ARGV: owner. */
  ReleaseLease: `${helpers} release(ARGV[1]) return reply(false, true)`,
  /** ARGV: fence, bytes, the time at which the value ends, in milliseconds, and owner. */
  Publish: `${helpers}
local _, fence = read()
local isWritten = fence <= tonumber(ARGV[1])
if isWritten then call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'PXAT', ARGV[3]) end
release(ARGV[4])
return reply(false, isWritten)`
}
