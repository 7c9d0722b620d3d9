import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createLinter, refreshProjectGraph } from './lint.ts'
import { repository } from './workspace.ts'

const linter = createLinter()

beforeAll(refreshProjectGraph, 300_000)

/** Names of the rules that refuse the code, were it in the file. */
async function rulesAgainst(path: string, code: string): Promise<readonly (string | null)[]> {
  const results = await linter.lintText(`${code}\n`, { filePath: join(repository, path) })
  return results.flatMap((result) => result.messages.map((message) => message.ruleId))
}

const boundary = '@nx/enforce-module-boundaries'

const cases = [
  {
    name: 'core imports nothing from above',
    path: 'libs/core/ip/src/example.ts',
    refused: `export { OvsdbClient } from 'ovsdb-client'`,
    accepted: `export { KubeOvnError } from '@kube-ovn/errors'`,
    rule: boundary,
  },
  {
    name: 'I/O does not know what the product does',
    path: 'libs/io/kube/src/example.ts',
    refused: `export { subnet } from '@kube-ovn/features-network/subnet'`,
    accepted: `export { pods } from '@kube-ovn/kube-api/core'`,
    rule: boundary,
  },
  {
    name: 'the planes do not meet',
    path: 'apps/controller/src/example.ts',
    refused: `export { tunnels } from '@kube-ovn/features-node'`,
    accepted: `export { subnet } from '@kube-ovn/features-network/subnet'`,
    rule: boundary,
  },
  {
    name: 'an area of features knows nothing of another',
    path: 'libs/features/network/src/example.ts',
    refused: `export { ip } from '@kube-ovn/features-addresses/ip'`,
    accepted: `export { readAddresses } from '@kube-ovn/domains-control/addresses'`,
    rule: boundary,
  },
  {
    name: 'unit tests do without the whole controller',
    path: 'libs/features/network/src/example.test.ts',
    refused: `export { ControlCluster } from '@kube-ovn/testing-control'`,
    accepted: `export { shownRows } from '@kube-ovn/domains-control/testing/shown'`,
    rule: boundary,
  },
  {
    name: 'domains do not know the features',
    path: 'libs/domains/control/src/example.ts',
    refused: `export { subnet } from '@kube-ovn/features-network/subnet'`,
    accepted: `export { nothing } from '@kube-ovn/reconcile'`,
    rule: boundary,
  },
  {
    name: 'what is shipped imports no test library',
    path: 'libs/runtime/reconcile/src/example.ts',
    refused: `export { startNorthbound } from '@kube-ovn/testing-ovsdb'`,
    accepted: `export { pods } from '@kube-ovn/kube'`,
    rule: boundary,
  },
  {
    name: 'a package is entered by its door',
    path: 'libs/io/kube/src/example.ts',
    refused: `export { pods } from '../../../model/kube-api/src/core/resources.ts'`,
    accepted: `export { pods } from '@kube-ovn/kube-api/core'`,
    rule: boundary,
  },
  {
    name: 'features act on nothing by themselves',
    path: 'libs/features/network/src/example.ts',
    refused: `export { KubeClient } from '@kube-ovn/kube'`,
    accepted: `export type { Store } from '@kube-ovn/kube'`,
    rule: 'kube-ovn/package-imports',
  },
  {
    name: 'the CNI plugin stays small',
    path: 'apps/cni/src/plugin/example.ts',
    refused: `export { Netlink } from '@kube-ovn/netlink'`,
    accepted: `export { request } from 'node:http'`,
    rule: 'kube-ovn/package-imports',
  },
  {
    name: 'desired state is computed',
    path: 'libs/features/network/src/vpc/desired.ts',
    refused: `export const now = Date.now()`,
    accepted: `export const now = clock.now()`,
    rule: 'kube-ovn/pure-code',
  },
  {
    name: 'so is everything else of a feature but its wiring',
    path: 'libs/features/network/src/vpc/snapshot.ts',
    refused: `export const random = Math.random()`,
    accepted: `export const least = Math.min(1, 2)`,
    rule: 'kube-ovn/pure-code',
  },
  {
    name: 'features of an area know nothing of each other',
    path: 'libs/features/network/src/vpc/snapshot.ts',
    refused: `export { subnet } from '../subnet/feature.ts'`,
    accepted: `export { desiredVpc } from './desired.ts'`,
    rule: 'kube-ovn/own-folder',
  },
  {
    name: 'annotations have one home',
    path: 'libs/features/network/src/example.ts',
    refused: `export const key = 'ovn.kubernetes.io/vlan_id'`,
    accepted: `export const version = 'kubeovn.io/v1'`,
    rule: 'kube-ovn/annotation-home',
  },
]

describe.each(cases)('$name', ({ path, refused, accepted, rule }) => {
  it('refuses', async () => expect(await rulesAgainst(path, refused)).toContain(rule))
  it('accepts', async () => expect(await rulesAgainst(path, accepted)).toEqual([]))
})
