import { isIPv6 } from 'node:net'
import { errorCode } from '@kube-ovn/errors'
import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'

/** What /etc/resolv.conf says. */
export interface ResolverConfiguration {
  /** Addresses, with a port where it is another than 53 (`[fd00::1]:5353`). */
  readonly servers: readonly string[]
  readonly search: readonly string[]
  /** A name with fewer dots is first tried below each of `search`. */
  readonly dots: number
}

/** Reads the configuration of the container's resolver. */
export async function readResolverConfiguration(path = '/etc/resolv.conf'): Promise<ResolverConfiguration> {
  return parseResolverConfiguration(await readFile(path, 'utf8'))
}

/** @see resolv.conf(5) */
export function parseResolverConfiguration(text: string): ResolverConfiguration {
  const lines = text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  )
  const option = lines
    .filter(([keyword]) => keyword === 'options')
    .flatMap((words) => words.slice(1))
    .findLast((word) => /^ndots:\d+$/.test(word))
  return {
    servers: lines
      .filter(([keyword, address]) => keyword === 'nameserver' && address !== undefined)
      .map(([, address = '']) => address),
    // The last one counts.
    search: lines.findLast(([keyword]) => keyword === 'search')?.slice(1) ?? [],
    dots: option === undefined ? 1 : Number(option.slice('ndots:'.length)),
  }
}

/** The names that are asked for, in order. */
export function candidatesOf(name: string, { search, dots }: ResolverConfiguration): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const below = search.filter((domain) => domain !== '.').map((domain) => `${name}.${domain}`)
  return name.split('.').length > dots ? [name, ...below] : [...below, name]
}

/** What came of a look-up. `error` is the resolver's code, e.g. ENOTFOUND or ETIMEOUT. */
export type LookupResult =
  | { readonly isFound: true; readonly addresses: readonly string[]; readonly tookMs: number }
  | { readonly isFound: false; readonly error: string }

export interface LookupOptions {
  readonly configuration: ResolverConfiguration
  /** Those for which an address is wanted; one of them suffices. */
  readonly families: readonly ('ipv4' | 'ipv6')[]
  readonly timeoutMs: number
}

/**
 * Looks a name up with the servers of the configuration, as the resolver of libc does, but in no thread: a server that does not answer
 * holds nobody up.
 */
export async function lookUp(name: string, options: LookupOptions): Promise<LookupResult> {
  const startedMs = performance.now()
  const { configuration, families, timeoutMs } = options
  if (configuration.servers.length === 0) return { isFound: false, error: 'ENOSERVERS' }
  const resolver = new Resolver({ timeout: Math.max(1, Math.floor(timeoutMs / 2)), tries: 2 })
  const deadline = setTimeout(() => resolver.cancel(), timeoutMs)
  try {
    resolver.setServers(configuration.servers.map((server) => (isIPv6(server) ? `[${server}]` : server)))
    let error = 'ENOTFOUND'
    for (const candidate of candidatesOf(name, configuration)) {
      const answers = await Promise.allSettled(
        families.map((family) =>
          family === 'ipv4' ? resolver.resolve4(candidate) : resolver.resolve6(candidate),
        ),
      )
      const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
      if (addresses.length > 0) return { isFound: true, addresses, tookMs: performance.now() - startedMs }
      const codes = answers.map((answer) =>
        answer.status === 'rejected' ? (errorCode(answer.reason) ?? String(answer.reason)) : 'ENODATA',
      )
      error = codes.find((code) => !isAbsence(code)) ?? error
      // A server that does not answer for this name does not answer for the next.
      if (codes.some((code) => !isAbsence(code))) break
    }
    return { isFound: false, error: error === 'ECANCELLED' ? 'ETIMEOUT' : error }
  } finally {
    clearTimeout(deadline)
  }
}

function isAbsence(code: string): boolean {
  return code === 'ENOTFOUND' || code === 'ENODATA'
}
