/**
 * Lua scripts for Valkey or Redis: one decides requests, one charges requests admitted elsewhere, one tries commands.
 */

/**
 * Functions for one account's requests, which are stored in one string: a head of 24 bytes and a ring of times.
 *
 * head  `newest` (8 bytes, a double: µs since 1970), then four bytes each: `next`, which is the next slot to write, and
 *       the numbers of requests in minute, hour and day when the newest was added; a charge sets all to the day's number
 * ring  5 bytes for each slot: a request's µs modulo 2^40, which is 12.7 days; `newest` gives the higher bits
 *
 * The k-th request from the end is in the slot `next - k`. Only counted requests change anything, and time never falls
 * behind `newest`. A clock that ran ahead and was set back therefore frees no quota.
 */
const shared = `
local HEAD, SLOT, WRAP = 24, 5, 2 ^ 40
local SIZES = {60e6, 3600e6, 86400e6}
local DAY = SIZES[3]
local call, pack, unpack = redis.call, struct.pack, struct.unpack

local function load(key)
  local head = call('GETRANGE', key, 0, HEAD - 1)
  if #head == 0 then return {key = key, newest = 0, next = 0, counts = {0, 0, 0}, slots = 0, known = {}} end
  local newest, next, minute, hour, day = unpack('>dI4I4I4I4', head)
  return {key = key, newest = newest, next = next, counts = {minute, hour, day}, known = {},
    slots = (call('STRLEN', key) - HEAD) / SLOT}
end

-- Returns the time of the k-th request from the end.
local function timeOf(log, k)
  local time = log.known[k]
  if time == nil then
    local at = HEAD + SLOT * ((log.next - k) % log.slots)
    local low = unpack('>I5', call('GETRANGE', log.key, at, at + SLOT - 1))
    time = log.newest - (log.newest - low) % WRAP
    log.known[k] = time
  end
  return time
end

-- Returns the number of newest requests that a window of this size counts: at most \`most\`, its last known number.
local function countIn(log, most, size, now)
  if most == 0 or now - timeOf(log, most) < size then return most end
  local outside, inside, step = most, 0, 1
  while outside - step > inside do
    local k = outside - step
    if now - timeOf(log, k) < size then inside = k else outside = k step = step * 2 end
  end
  while outside - inside > 1 do
    local k = math.floor((outside + inside) / 2)
    if now - timeOf(log, k) < size then inside = k else outside = k end
  end
  return inside
end

-- Returns the bytes of the newest requests, oldest first.
local function bytesOf(log, count)
  if count == 0 then return '' end
  local first = (log.next - count) % log.slots
  local function slice(from, to) return call('GETRANGE', log.key, HEAD + SLOT * from, HEAD + SLOT * to - 1) end
  return slice(first, math.min(first + count, log.slots)) .. slice(0, math.max(0, first + count - log.slots))
end

local function headOf(newest, next, counts)
  return pack('>dI4I4I4I4', newest, next, counts[1], counts[2], counts[3])
end

-- Lets an account expire an hour or two after its newest request has left the day.
local function expire(log, now)
  if math.floor(now / 3600e6) ~= math.floor(log.newest / 3600e6) then call('EXPIRE', log.key, 90000) end
end

-- Writes all requests again, oldest first, with room for an eighth more.
local function rewrite(log, bytes, newest, counts)
  local count = #bytes / SLOT
  local slots = count + math.floor(count / 8) + 4
  call('SET', log.key, headOf(newest, count, counts) .. bytes .. string.rep('\\0', SLOT * (slots - count)), 'KEEPTTL')
end

-- Adds requests of one moment, as bytes, to those that the day still counts.
local function append(log, bytes, now, kept, counts)
  local added = #bytes / SLOT
  local needed = kept + added
  if needed > log.slots or (log.slots > 64 and needed * 4 < log.slots) then
    rewrite(log, bytesOf(log, kept) .. bytes, now, counts)
  else
    local until_end = SLOT * (log.slots - log.next)
    call('SETRANGE', log.key, HEAD + SLOT * log.next, string.sub(bytes, 1, until_end))
    -- The ring starts again right behind the head.
    call('SETRANGE', log.key, 0, headOf(now, (log.next + added) % log.slots, counts) .. string.sub(bytes, until_end + 1))
  end
  expire(log, now)
end
`;

/** Lua that reads the server's clock, in µs since 1970. */
const serverTime = `local time = call('TIME')
local clock = time[1] * 1e6 + time[2]`;

/**
 * Returns the script that decides groups and returns a `Decision` for each. KEYS: the account of each group. ARGV: four
 * numbers for each group: its `requests`, and its quotas for minute, hour and day.
 * @param readClock Lua that sets `clock`; tests have their own.
 */
export const takeScript = (readClock: string = serverTime): string => `${shared}
${readClock}
local decisions = {}
for i, key in ipairs(KEYS) do
  local function given(place) return tonumber(ARGV[4 * i - 4 + place]) end
  local requests, quotas = given(1), {given(2), given(3), given(4)}
  local log = load(key)
  local now = math.max(clock, log.newest)
  -- If negative, this is one request that counts as many: all of them are counted, or none.
  local needed = math.max(1, -requests)
  local counts, admitted = {}, math.abs(requests)
  for w = 1, 3 do
    counts[w] = countIn(log, log.counts[w], SIZES[w], now)
    admitted = math.min(admitted, math.max(0, quotas[w] - counts[w]))
  end
  if admitted < needed then admitted = 0 end
  local kept = counts[3]
  for w = 1, 3 do counts[w] = counts[w] + admitted end
  local function ageOf(k) return k <= admitted and 0 or now - timeOf(log, k - admitted) end
  local decision = {admitted}
  for w = 1, 3 do
    decision[3 * w - 1] = counts[w]
    decision[3 * w] = counts[w] == 0 and 0 or SIZES[w] - ageOf(counts[w])
    local most = quotas[w] - needed
    decision[3 * w + 1] = counts[w] <= most and 0 or SIZES[w] - ageOf(most + 1)
  end
  decisions[i] = decision
  if admitted > 0 then append(log, string.rep(pack('>I5', now % WRAP), admitted), now, kept, counts) end
end
return decisions
`;

/**
 * Returns the script that charges requests admitted elsewhere. A charge that was already made changes nothing. KEYS[1]:
 * key that holds the number of the instance's newest charge; the others: accounts. ARGV[1]: the number of this charge;
 * the others: the ages in µs of each account's requests, oldest first, separated by spaces.
 */
export const chargeScript = (readClock: string = serverTime): string => `${shared}
${readClock}
if tonumber(call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then return 0 end
for i = 2, #KEYS do
  local log = load(KEYS[i])
  local now = math.max(clock, log.newest)
  local added = {}
  for age in string.gmatch(ARGV[i], '%d+') do
    if tonumber(age) < DAY then added[#added + 1] = now - tonumber(age) end
  end
  if #added > 0 then
    local kept = countIn(log, log.counts[3], DAY, math.max(log.newest, added[#added]))
    -- Sorts in the requests that were counted after the oldest of these.
    local later = 0
    while later < kept and timeOf(log, later + 1) > added[1] do
      later = later + 1
      added[#added + 1] = timeOf(log, later)
    end
    table.sort(added)
    local parts = {string.sub(bytesOf(log, kept), 1, SLOT * (kept - later))}
    for _, time in ipairs(added) do parts[#parts + 1] = pack('>I5', time % WRAP) end
    local count = kept - later + #added
    rewrite(log, table.concat(parts), added[#added], {count, count, count})
    call('EXPIRE', KEYS[i], 90000)
  end
end
call('SET', KEYS[1], ARGV[1], 'EX', 90000)
return 1
`;

/** Script that tries the commands of the other scripts on KEYS, since a server may refuse some. Then removes KEYS. */
export const probeScript = `
redis.call('TIME')
for _, key in ipairs(KEYS) do
  redis.call('SET', key, 'x', 'EX', 60)
  redis.call('SETRANGE', key, 0, 'y')
  redis.call('GETRANGE', key, 0, redis.call('STRLEN', key))
  redis.call('GET', key)
  redis.call('EXPIRE', key, 0)
end
return 1
`;
