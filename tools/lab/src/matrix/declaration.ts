import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { MatrixError } from '../errors.ts'
import { protocols } from '../probe/question.ts'

/** Who takes part: some pods, all nodes, the outside host, a Service, or an address. */
const party = z.union(
  [
    z.enum(['nodes', 'outside']),
    z.strictObject({
      namespace: z.string(),
      pods: z.string().describe('label selector; empty for all').default(''),
    }),
    z.strictObject({
      namespace: z.string(),
      service: z.string(),
      port: z.int().min(1).max(65_535).optional(),
      addresses: z
        .array(z.union([z.ipv4(), z.ipv6()]))
        .min(1)
        .describe('under which it is asked, in place of its cluster addresses')
        .optional(),
    }),
    z.strictObject({ address: z.union([z.ipv4(), z.ipv6()]), name: z.string().optional() }),
  ],
  { error: 'nodes, outside, {namespace, pods: SELECTOR}, {namespace, service, port} or {address}' },
)

/** That packets arrive, that they do not, or that they arrive from a certain source: the sender's own address, its node's, or any given. */
const expectation = z.union(
  [
    z.enum(['reach', 'no-reach']),
    z.strictObject({ source: z.union([z.enum(['own', 'node']), z.ipv4(), z.ipv6()]) }),
  ],
  { error: 'reach, no-reach or {source: own, node or an address}' },
)

const rule = z.strictObject({
  name: z.string().optional(),
  from: z.array(party).min(1),
  to: z.array(party).min(1),
  by: z.array(z.enum(protocols)).min(1).default(['ping', 'tcp']),
  families: z
    .array(z.enum(['ipv4', 'ipv6']))
    .min(1)
    .default(['ipv4', 'ipv6']),
  port: z.int().min(1).max(65_535).optional(),
  dscp: z.int().min(0).max(63).optional(),
  lookup: z.string().describe('the name that DNS is asked for').optional(),
  expect: expectation.default('reach'),
})

const matrix = z.array(rule).min(1)

export type Party = z.infer<typeof party>
export type Expectation = z.infer<typeof expectation>
/** One claim about the network: all of `from` reach, or do not reach, all of `to`, by each protocol and family. */
export type MatrixRule = z.infer<typeof rule>
/** As it is declared, with what may be left out left out. */
export type MatrixRuleInput = z.input<typeof rule>

/**
 * Completes a declaration.
 *
 * @throws {MatrixError} naming the field that is not understood
 */
export function parseMatrix(declared: unknown): readonly MatrixRule[] {
  const parsed = matrix.safeParse(declared)
  if (parsed.success) return parsed.data
  const [{ path, message } = { path: [], message: '' }] = parsed.error.issues
  throw new MatrixError('a connectivity matrix is not understood', {
    field: path.length === 0 ? 'the file' : path.join('.'),
    value: JSON.stringify(valueAt(declared, path)) ?? 'nothing',
    cure: path.length === 0 ? 'a list of rules, e.g. [{ from: [nodes], to: [outside] }]' : message,
  })
}

/** Reads a declaration from a YAML or JSON file. */
export function readMatrix(path: string): readonly MatrixRule[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    const cure = 'the path of a YAML file with a list of rules'
    throw new MatrixError(
      'a connectivity matrix can not be read',
      { field: 'FILE', value: path, cure },
      { cause },
    )
  }
  return parseMatrix(readYaml(text))
}

function readYaml(text: string): unknown {
  try {
    return parse(text)
  } catch (cause) {
    const [value = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    const cure = 'YAML or JSON: a list of rules'
    throw new MatrixError(
      'a connectivity matrix is not understood',
      { field: 'the file', value, cure },
      { cause },
    )
  }
}

function valueAt(declared: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    declared,
  )
}
