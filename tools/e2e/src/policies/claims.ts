import {
  applyAll,
  deleteAll,
  eventually,
  ofStack,
  renderMatrix,
  runMatrix,
  type ApiObject,
  type Cluster,
  type MatrixRow,
  type MatrixRuleInput,
} from '@kube-ovn/lab'
import { expect } from 'vitest'

/** Pods of the example with two subnets, in both directions and among those of the shop. */
export const shop: MatrixRuleInput['from'] = [{ namespace: 'shop', pods: 'app=web' }]
export const stock: MatrixRuleInput['from'] = [{ namespace: 'stock', pods: 'app=db' }]
/** Where they serve a page. */
export const port = 8080
const served: Pick<MatrixRuleInput, 'by' | 'port'> = { by: ['http'], port }
export const entered: MatrixRuleInput = { from: stock, to: shop, ...served }
export const left: MatrixRuleInput = { from: shop, to: stock, ...served }
export const among: MatrixRuleInput = { from: shop, to: shop, ...served }
export const blocked = { expect: 'no-reach' } as const

/** How long the answer to a question may take that another round asks again if it was on its way for longer. */
const timeoutMs = 1500

/**
 * Claims hold as soon as what was written has come to all nodes; if they never do, what is not so is told as text.
 *
 * @throws Error if one of them asks nobody in a family that it is about, by default those of the cluster: that would hold whatever happens
 */
export async function expectClaims(
  cluster: Cluster,
  what: string,
  rules: readonly MatrixRuleInput[],
  isWanted = isAsExpected,
): Promise<void> {
  const own = ofStack(cluster.topology.stack, { ipv4: 'ipv4', ipv6: 'ipv6' })
  const named = rules.map((rule, index) => ({ ...rule, name: `${what}, ${index + 1}` }))
  const wanted = named.flatMap(({ name, families = own }) => families.map((family) => `${name}: ${family}`))
  let wrong: readonly MatrixRow[] = []
  await eventually(what, async () => {
    const { rows } = await runMatrix(cluster, named, { timeoutMs })
    const asked = new Set(rows.map(({ rule, family }) => `${rule}: ${family}`))
    const unasked = wanted.filter((name) => !asked.has(name))
    if (unasked.length > 0) throw new Error(`nobody is asked: ${unasked.join(', ')}`)
    wrong = rows.filter((row) => !isWanted(row))
    return wrong.length === 0 ? true : undefined
  }).catch((error: unknown) => {
    if (wrong.length === 0) throw error
    expect.unreachable(`${what}:\n${renderMatrix({ rows: wrong, ms: 0 })}`)
  })
}

/** A kernel without SCTP can not be asked for it. */
function isAsExpected({ verdict }: MatrixRow): boolean {
  return verdict !== 'differs'
}

/** What objects do while they are there; afterwards everybody is let in again. */
export async function during(
  cluster: Cluster,
  objects: readonly ApiObject[],
  check: () => Promise<unknown>,
): Promise<void> {
  await applyAll(cluster.api, objects)
  try {
    await check()
  } finally {
    await deleteAll(cluster.api, objects)
  }
  await expectClaims(cluster, 'all are let in again', [entered, left, among])
}
