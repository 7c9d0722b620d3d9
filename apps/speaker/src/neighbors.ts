import { readFileSync } from 'node:fs'
import type { RouteAttributes } from '@kube-ovn/features-speaker'
import type { Refused } from '@kube-ovn/errors'
import { contains, familyOf, formatIp, parseCidr, parseIp, tryParseIp } from '@kube-ovn/ip'
import { ConfigInvalidError } from '@kube-ovn/process'
import { z } from 'zod'

const part = (most: number) => z.int().min(0).max(most)
const largestAs = 4_294_967_295

/** Two numbers of two bytes, or three of four bytes (RFC 1997, 8092). */
export function isCommunity(text: string): boolean {
  const parts = text.split(':')
  const most = parts.length === 2 ? 65_535 : largestAs
  return (
    (parts.length === 2 || parts.length === 3) &&
    parts.every((one) => /^\d+$/.test(one) && Number(one) <= most)
  )
}

/** So many large ones take less than a third of a message, and leave room for prefixes. */
export const mostCommunities = 100

/** An address of fe80::/10, which a route leads to only where it is said by which link. */
export function isLinkLocal(text: string): boolean {
  const ip = tryParseIp(text)
  return ip !== undefined && familyOf(ip) === 6 && contains(linkLocal, ip)
}

const linkLocal = parseCidr('fe80::/10')

/** What may differ between neighbours. Everything that is left out is as the flags say. */
const neighbor = z.strictObject({
  address: z
    .string()
    .refine((text) => tryParseIp(text) !== undefined, 'is no address')
    .refine((text) => !isLinkLocal(text), 'is link-local, and says not on which link'),
  as: z.int().min(1).max(largestAs).optional(),
  port: z.int().min(1).max(65_535).optional(),
  passive: z.boolean().optional(),
  ebgpMultihop: z.int().min(1).max(255).optional(),
  extendedNexthop: z.boolean().optional(),
  holdtimeSeconds: z.union([z.literal(0), z.int().min(3).max(65_535)]).optional(),
  passwordFile: z.string().min(1).optional(),
  bfd: z.boolean().optional(),
  communities: z.array(z.string().refine(isCommunity, 'is no community')).max(mostCommunities).optional(),
  localPreference: part(largestAs).optional(),
  med: part(largestAs).optional(),
})
/** Whose entry it is, as far as that can be read. */
const rough = z
  .object({
    address: neighbor.shape.address.optional().catch(undefined),
    as: neighbor.shape.as.catch(undefined),
  })
  .catch({ address: undefined, as: undefined })

export interface Neighbor extends z.infer<typeof neighbor> {
  /** What names its entry of the file in a message; absent for one of the flags. */
  readonly entry?: string
}

/** An entry that nobody can go by. */
export interface RefusedNeighbor {
  /** Absent where it has none, or that of another entry. */
  readonly address: string | undefined
  readonly as: number | undefined
  readonly problem: Refused
}

export interface Neighbors {
  readonly neighbors: readonly Neighbor[]
  readonly refused: readonly RefusedNeighbor[]
}

const cure = 'write it as docs/user/bgp.md says'

/**
 * Reads the file with neighbours; without a name there are none. Of an entry that is wrong, others know nothing.
 *
 * @throws ConfigInvalidError for what is no list
 */
export function readNeighbors(path: string): Neighbors {
  if (path === '') return { neighbors: [], refused: [] }
  const entries = parse(path)
  if (!Array.isArray(entries))
    throw new ConfigInvalidError({ field: 'neighbors-file', value: 'no list of neighbours', cure })
  const good = new Map<string, Neighbor>()
  const refused: RefusedNeighbor[] = []
  for (const [index, given] of entries.entries()) {
    const entry = `neighbors-file[${index}]`
    const read = neighbor.safeParse(given)
    if (!read.success) {
      refused.push(refusalOf(given, entry, read.error.issues))
      continue
    }
    const address = canonical(read.data.address)
    if (!good.has(address)) good.set(address, { ...read.data, address, entry })
    else {
      const problem = { field: `${entry}.address`, value: address, cure: 'name each neighbour once' }
      refused.push({ address: undefined, as: read.data.as, problem })
    }
  }
  // What is right elsewhere in the file is shown, rather than that there is another entry.
  const shown = refused.map((one) =>
    one.address !== undefined && good.has(one.address) ? { ...one, address: undefined } : one,
  )
  return { neighbors: [...good.values()], refused: shown }
}

/** Of several ways to write an address the one that everybody compares by. */
export function canonical(address: string): string {
  return formatIp(parseIp(address))
}

function refusalOf(given: unknown, entry: string, [issue]: readonly z.core.$ZodIssue[]): RefusedNeighbor {
  const where = (issue?.path ?? []).map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
  const { address, as } = rough.parse(given)
  return {
    address: address === undefined ? undefined : canonical(address),
    as,
    problem: { field: `${entry}${where.join('')}`, value: issue?.message ?? '', cure },
  }
}

/** What a neighbour is told of each route. */
export function attributesOf(
  communities: readonly string[] | undefined,
  more: Pick<RouteAttributes, 'localPreference' | 'med'>,
): RouteAttributes {
  const [plain, large] = [2, 3].map((parts) =>
    communities?.filter((text) => text.split(':').length === parts),
  )
  return {
    ...(plain !== undefined && plain.length > 0 && { communities: plain }),
    ...(large !== undefined && large.length > 0 && { largeCommunities: large }),
    ...(more.localPreference !== undefined && { localPreference: more.localPreference }),
    ...(more.med !== undefined && { med: more.med }),
  }
}

function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    const cure = 'give a file with JSON that can be read'
    throw new ConfigInvalidError({ field: 'neighbors-file', value: path, cure }, { cause })
  }
}
