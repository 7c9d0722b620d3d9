import { readFileSync } from 'node:fs'
import type { RouteAttributes } from '@kube-ovn/features-speaker'
import { tryParseIp } from '@kube-ovn/ip'
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

/** What may differ between neighbours. Everything that is left out is as the flags say. */
const neighbor = z.strictObject({
  address: z.string().refine((text) => tryParseIp(text) !== undefined, 'is no address'),
  as: z.int().min(1).max(largestAs).optional(),
  port: z.int().min(1).max(65_535).optional(),
  passive: z.boolean().optional(),
  ebgpMultihop: z.int().min(1).max(255).optional(),
  extendedNexthop: z.boolean().optional(),
  holdtimeSeconds: z.union([z.literal(0), z.int().min(3).max(65_535)]).optional(),
  passwordFile: z.string().min(1).optional(),
  bfd: z.boolean().optional(),
  communities: z.array(z.string().refine(isCommunity, 'is no community')).optional(),
  localPreference: part(largestAs).optional(),
  med: part(largestAs).optional(),
})
const neighbors = z.array(neighbor)

export type Neighbor = z.infer<typeof neighbor>

/**
 * Reads the file with neighbours; without a name there are none.
 *
 * @throws ConfigInvalidError that names the field
 */
export function readNeighbors(path: string): readonly Neighbor[] {
  if (path === '') return []
  const found = neighbors.safeParse(parse(path))
  if (found.success) return found.data
  const [issue] = found.error.issues
  const where = (issue?.path ?? []).map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
  throw new ConfigInvalidError({
    field: `neighbors-file${where.join('')}`,
    value: issue?.message ?? '',
    cure: 'write it as docs/user/bgp.md says',
  })
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
