import { addressesOfPod } from '@kube-ovn/lab'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { first, nameOf, type KoSuite } from './suite.ts'

/** Read by the generator of the pages. */
const file = resolve(import.meta.dirname, '../../../generate/src/kubectl-ko/runs.json')

/** Of what a command prints, as much as shows what it is: of much, the beginning and how it ends. */
const [mostLines, mostColumns] = [24, 150] as const
const lastLines = 8

const subnet = `apiVersion: kubeovn.io/v1
kind: Subnet
metadata: { name: harbour }
spec: { cidrBlock: 10.77.0.0/24, namespaces: [harbour] }
`

/** What the page of each command shows it do. */
function shownRuns(suite: KoSuite): readonly (readonly [page: string, ...args: string[]])[] {
  const [web, db] = [nameOf(first(suite.shop)), first(suite.stock)]
  const address = first(addressesOfPod(db))
  return [
    ['status', 'status'],
    ['top', 'top'],
    ['topology', 'topology'],
    ['version', 'version'],
    ['explain', 'explain', `pod/${nameOf(first(suite.tills))}`],
    ['plan', 'plan', '-f', 'subnet.yaml'],
    ['why', 'why', web],
    ['ipam', 'ipam', 'who', address],
    ['ipam', 'ipam', 'verify'],
    ['matrix', 'matrix'],
    ['diagnose', 'diagnose', 'subnet', 'shop'],
    ['env-check', 'env-check', 'node-1'],
    ['log', 'log', 'ovs', '--lines', '50'],
    ['perf', 'perf', '--sizes', '64,1400', '--seconds', '1'],
    ['nb', 'nb', 'status'],
    ['nb', 'nb', 'backup'],
    ['sb', 'sb', 'status'],
    ['nbctl', 'nbctl', 'show', 'shop'],
    ['sbctl', 'sbctl', 'show'],
    ['icnbctl', 'icnbctl', 'show'],
    ['icsbctl', 'icsbctl', 'show'],
    ['vsctl', 'vsctl', 'node-1', 'get', 'Open_vSwitch', '.', 'external_ids'],
    ['ofctl', 'ofctl', 'node-1', 'show', 'br-int'],
    ['dpctl', 'dpctl', 'node-1', 'show'],
    ['appctl', 'appctl', 'node-1', 'version'],
    ['tcpdump', 'tcpdump', web, '-c', '2', 'tcp'],
    ['ovn-trace', 'ovn-trace', web, address, 'tcp', '8080'],
    ['trace', 'trace', web, address, 'icmp'],
    ['support-bundle', 'support-bundle'],
    ['completion', 'completion', 'bash'],
    // It starts everything again: the last one.
    ['reload', 'reload', 'kube-ovn-controller'],
  ]
}

/** Runs of commands, as their pages in docs/reference show them. */
export function describeShownRuns(given: () => KoSuite): void {
  it('do what their pages show, which is written down', async ({ skip }) => {
    skip(process.env['KUBE_OVN_RECORD'] !== '1', 'it writes what pages show: KUBE_OVN_RECORD=1 has it do so')
    await writeFile(join(given().directory, 'subnet.yaml'), subnet)
    const runs = []
    for (const [page, ...args] of shownRuns(given())) {
      const { exitCode, stdout, stderr } = await given().ko(...args)
      const output = shortened(`${stdout}${stderr}`.replaceAll(given().directory, '.'))
      expect(output, args.join(' ')).not.toBe('')
      runs.push({ page, command: ['kubectl ko', ...args].join(' '), exitCode, output })
    }
    await writeFile(file, `${JSON.stringify(runs, undefined, 2)}\n`)
  })
}

function shortened(text: string): string {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => (line.length > mostColumns ? `${line.slice(0, mostColumns - 1)}…` : line).trimEnd())
  if (lines.length <= mostLines) return lines.join('\n')
  return [...lines.slice(0, mostLines - lastLines), '…', ...lines.slice(-lastLines)].join('\n')
}
