import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** As much as all annotations of an object may be together. */
export const hostileSize = 256 * 1024

/** How much longer reading may take than reading the same as JSON, and how much more of it may be kept. */
export const allowed = { times: 20, kept: 2 } as const

/** How much longer it may take to do all that there is to do about an object than to read it. */
export const allowedToAct = 400

function repeated(unit: string): string {
  // Read and written, so that it is one text in memory as those of the API server are.
  return flat(unit.repeat(Math.ceil(hostileSize / unit.length)).slice(0, hostileSize))
}

function flat(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}

/** As many items as fit. */
function listed(separator: string, item: (index: number) => string): string {
  let size = 0
  const items: string[] = []
  for (let index = 0; size < hostileSize; index++) {
    const text = item(index)
    items.push(text)
    size += text.length + separator.length
  }
  return flat(items.slice(0, -1).join(separator))
}

/** So many items, with blanks between them. */
function spread(count: number, item: (index: number) => string, separator = ','): string {
  const room = hostileSize / count - separator.length
  return flat(Array.from({ length: count }, (_, index) => item(index).padEnd(room)).join(separator))
}

const half = hostileSize / 2

function v4(index: number): string {
  return `10.${(index >>> 16) & 255}.${(index >>> 8) & 255}.${index & 255}`
}

/** Texts that are as bad as a text of their size can be, by what they are. */
export const hostileTexts: Readonly<Record<string, string>> = {
  'IPv4 addresses': listed(',', v4),
  'IPv4 addresses, the highest first': listed(',', (index) => v4(0xfffffe - index)),
  'IPv6 addresses': listed(',', (index) => `::${index.toString(16)}`),
  'IPv6 addresses in capitals': listed(',', (index) => `FD00::${index.toString(16).toUpperCase()}:0`),
  'entries of both families': listed(';', (index) => `${v4(index)},::${index.toString(16)}`),
  'ranges of 256 addresses': listed(',', (index) => `${v4(index * 512)}..${v4(index * 512 + 255)}`),
  'ranges that overlap': listed(';', (index) => `${v4(index)}..${v4(index + 4000)}`),
  'ranges of 2^64': listed(
    ',',
    (index) => `fd00:${index.toString(16)}::..fd00:${index.toString(16)}::ffff:ffff:ffff:ffff`,
  ),
  'IPv6 ranges in full': listed(',', (index) => {
    const network = `fd00:0010:0016:0000:${index.toString(16).padStart(4, '0')}:0000:0000`
    return `${network}:0000..${network}:0001`
  }),
  'as many addresses as may be': spread(1024, (index) => `FD00:10:16::${index.toString(16)}:0`),
  'as many entries as may be': spread(
    1024,
    (index) => `${v4(index * 9)},FD00:10:16::${index.toString(16)}:0`,
    ';',
  ),
  'as many names as may be': spread(1024, (index) => `n${index.toString(36)}`.padEnd(250, 'a')),
  prefixes: listed(',', (index) => `${v4(index * 4)}/30`),
  names: listed(',', (index) => index.toString(36)),
  'groups of names': listed(';', (index) => index.toString(36)),
  commas: repeated(','),
  semicolons: repeated(';'),
  blanks: repeated(' '),
  letters: repeated('a'),
  digits: repeated('1'),
  colons: repeated('a:'),
  dots: repeated('1.'),
  hyphens: `a${repeated('-')}!`,
  labels: repeated('a.'),
  slashes: repeated('a/'),
  'lists in lists': '['.repeat(half) + ']'.repeat(half),
  'objects in objects': `${'{"a":'.repeat(half / 3)}1${'}'.repeat(half / 3)}`,
  'a JSON list of texts': `["${listed('","', v4)}"]`,
  'a JSON list of objects': `[${listed(',', (index) => `{"name":"n${index.toString(36)}"}`)}]`,
  'one object with many addresses': `[{"name":"n","ips":["${listed('","', v4)}"]}]`,
  'one long name': `[{"name":"n","namespace":"m","interface":"${repeated('a')}"}]`,
  'a JSON object of many keys': `{${listed(',', (index) => `"${index.toString(36)}":"::${index.toString(16)}"`)}}`,
}

/** Lists of texts that are as bad. */
export const hostileLists: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries(hostileTexts)
      .filter(([, text]) => text.includes(',') && !text.startsWith('[') && !text.startsWith('{'))
      .map(([shape, text]) => [shape, text.split(',')]),
  ),
  'one text': [hostileTexts['letters'] ?? ''],
}

/** What the text is as JSON: itself, or the list of its words. */
export function asJson(text: string): string {
  const first = text.charAt(0)
  return first === '[' || first === '{' ? text : JSON.stringify(text.split(/[,;]/))
}

/**
 * How many times longer `work` takes than reading the JSON. Of what others may have slowed down the time of the processor counts,
 * which is the same whoever else wants it.
 *
 * @param most how many times longer is not too long
 * @param undo what makes it possible to do the work again
 */
export function timesLonger(
  work: () => void,
  json: string,
  {
    most = allowed.times,
    undo = () => undefined,
  }: { readonly most?: number; readonly undo?: () => void } = {},
): number {
  const read = (): void => void JSON.parse(json)
  // By the clock it is seen at once that most are far quicker: others make the work longer, and hardly each of some short readings.
  let [spent, base] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let run = 0; run < 3 && !(spent / base < most / 2); run++) {
    spent = Math.min(spent, elapsedMs(work))
    undo()
    base = Math.min(base, elapsedMs(read), elapsedMs(read), elapsedMs(read))
  }
  let best = spent / base
  for (let attempt = 0; attempt < 3 && best > most; attempt++) {
    best = Math.min(best, processorMs(work, undo) / processorMs(read))
  }
  return best
}

function elapsedMs(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** The kernel counts in ticks of up to 10 ms (CONFIG_HZ), so that only many of them tell. */
const enoughMs = 100

/** How long the processor works for it, on average of as many runs as it takes to know. */
function processorMs(work: () => void, undo: () => void = () => undefined): number {
  let spent = 0
  let runs = 0
  // What takes no time of the processor never adds up.
  while (spent < enoughMs && runs < 200) {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    undo()
    spent += (user + system) / 1000
    runs++
  }
  return spent / runs
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/**
 * How much memory is kept by what `make` returns, bytes: the least of up to three, for others allocate meanwhile.
 *
 * @param most how much is not too much: the first that is no more will do
 */
export function keptBytes(make: () => unknown, most: number): number {
  make()
  let least = keptOnce(make)
  for (let again = 0; again < 2 && least > most; again++) least = Math.min(least, keptOnce(make))
  return least
}

function keptOnce(make: () => unknown): number {
  const before = usedBytes()
  const kept = make()
  const after = usedBytes()
  return kept === null ? 0 : after - before
}

/** How much memory is used once what nobody needs is collected, bytes. */
export function usedBytes(): number {
  collect()
  return process.memoryUsage().heapUsed
}
