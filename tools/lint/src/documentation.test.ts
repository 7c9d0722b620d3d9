import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  bgpAnnotations,
  controllerFinalizer,
  deprecatedControllerFinalizer,
  dnsNameResolverLabel,
  endpointsLabel,
  ipLabel,
  kubevirtAnnotations,
  namespaceAnnotations,
  networkAnnotations,
  multiNetworkPolicyAnnotations,
  networkPolicyAnnotations,
  nodeAnnotations,
  nodeLabel,
  podAnnotations,
  providerNetworkKeysOf,
  qosAnnotations,
  serviceLabel,
  sliceLabel,
  vipAnnotations,
  vpcAnnotations,
} from '@kube-ovn/annotations'
import { controlFeatures } from '@kube-ovn/assembly-controller'
import {
  addressAuditMetrics,
  agentMetrics,
  clientMetrics,
  databaseMetrics,
  fragmentMetrics,
  kernelMetrics,
  leaderMetrics,
  logMetrics,
  monitorMetrics,
  nodeParameterMetrics,
  speakerMetrics,
  subnetMetrics,
  vswitchMetrics,
  Registry,
} from '@kube-ovn/telemetry'
import { describe, expect, it } from 'vitest'
import { repository, workspacePackages } from './workspace.ts'

const packages = workspacePackages()
const libs = packages.filter(({ directory }) => directory.startsWith('libs/'))

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8')
}

describe.each(packages)('$name', ({ name, directory, tags }) => {
  it('says in one line what it is for', () => {
    const [title, blank, charter] = read(`${directory}/README.md`).split('\n')
    expect(title).toBe(`# ${name}`)
    expect(blank).toBe('')
    expect(charter).toMatch(/^[^#|>-].{10,}$/)
  })

  it('has one layer', () => {
    expect(tags.filter((tag) => tag.startsWith('layer:'))).toHaveLength(1)
  })
})

describe.each(libs)('$name', ({ directory, tags }) => {
  it('has one door, or one for each feature', () => {
    const { exports } = JSON.parse(read(`${directory}/package.json`)) as { readonly exports: object }
    const isArea = Object.entries(exports).some(
      ([name, path]) => name === './*' && path === './src/*/feature.ts',
    )
    expect(isArea || existsSync(join(repository, directory, 'src/index.ts'))).toBe(true)
  })

  it('is in the folder of its layer', () => {
    const folder = directory.split('/')[1] ?? ''
    expect(tags).toContain(`layer:${folder.replace(/s$/, '')}`)
  })
})

describe('docs/design', () => {
  it.each(controlFeatures)('has a page about $name with what it owns', ({ name, kinds }) => {
    const page = read(`docs/design/${name}.md`)
    expect(page).toMatch(new RegExp(`^# ${name}$`, 'm'))
    const owned = page.split('\n').find((line) => line.startsWith('| Kinds owned')) ?? ''
    expect(kinds.filter((kind) => !owned.includes(`\`${kind.name}\``))).toEqual([])
    expect(read('docs/design/index.md')).toContain(`(./${name}.md)`)
  })
})

describe('docs/design/service-flaws.md', () => {
  const held = read('docs/design/service-flaws.md')
    .split('\n')
    .flatMap((line) => {
      const [, , file, title] = line.split('|').map((cell) => cell.trim())
      const path = /^`(.+\.test\.ts)`$/.exec(file ?? '')?.[1]
      return path === undefined || title === undefined ? [] : [{ path, title }]
    })

  it('names tests that there are', () => {
    expect(held.length).toBeGreaterThan(0)
    const missing = held.filter(
      ({ path, title }) => !read(`libs/features/services/src/${path}`).includes(title),
    )
    expect(missing).toEqual([])
  })
})

describe('docs/reference/annotations.md', () => {
  const page = read('docs/reference/annotations.md')

  function section(title: string): string {
    return page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? ''
  }

  const { ingressRate, egressRate, ingressBurst, egressBurst } = qosAnnotations()
  const nodeRates = [ingressRate, egressRate, ingressBurst, egressBurst]
  const { exclude, interface: nic, problem } = providerNetworkKeysOf('<network>')

  const sections = [
    {
      title: 'Pod',
      keys: [
        ...Object.values(podAnnotations()),
        ...Object.values(qosAnnotations()),
        ...Object.values(vipAnnotations),
        ...Object.values(bgpAnnotations),
      ].map(({ key }: { readonly key: string }) => key),
    },
    {
      title: 'Networks',
      keys: [...Object.values(networkAnnotations), ...Object.values(kubevirtAnnotations)].map(
        ({ key }) => key,
      ),
    },
    { title: 'Namespace', keys: Object.values(namespaceAnnotations).map(({ key }) => key) },
    {
      title: 'Node',
      keys: [...Object.values(nodeAnnotations), ...nodeRates]
        .map(({ key }) => key)
        .concat(exclude, nic, problem),
    },
    { title: 'Vpc', keys: Object.values(vpcAnnotations).map(({ key }) => key) },
    { title: 'NetworkPolicy', keys: Object.values(networkPolicyAnnotations).map(({ key }) => key) },
    { title: 'MultiNetworkPolicy', keys: Object.values(multiNetworkPolicyAnnotations).map(({ key }) => key) },
    {
      title: 'Labels',
      keys: [dnsNameResolverLabel, endpointsLabel, ipLabel, nodeLabel, serviceLabel, sliceLabel].flatMap(
        (labels) => Object.values(labels),
      ),
    },
    { title: 'Finalizers', keys: [controllerFinalizer, deprecatedControllerFinalizer] },
  ]

  it.each(sections)('has a row for each key: $title', ({ title, keys }) => {
    const documented = [...section(title).matchAll(/^\| `([^`]+)`/gm)].map((match) => match[1])
    expect(documented.toSorted()).toEqual([...keys].toSorted())
  })
})

describe('docs/reference/metrics.md', () => {
  it('has a row for each metric of controller, agent, speaker, monitor and Open vSwitch', async () => {
    const registry = new Registry()
    addressAuditMetrics(registry)
    agentMetrics(registry, 'n1')
    databaseMetrics(registry)
    kernelMetrics(registry)
    logMetrics(registry)
    leaderMetrics(registry, 'test', () => true)
    speakerMetrics(registry, 'n1', () => ({ peers: [], problems: 0, bfd: undefined }))
    monitorMetrics(registry, 'n1', () => ({
      ...{
        daemons: [],
        databases: [],
        logs: [],
        failedRequests: 0,
        sources: new Map(),
        inconsistent: new Map(),
      },
      ...{ northbound: undefined, southbound: undefined },
    }))
    const node = new Registry()
    fragmentMetrics(node)
    clientMetrics(node)
    nodeParameterMetrics(node, 'n1', () => ({
      ...{ localPorts: undefined, udpChecksumErrors: undefined, searchDomains: [], tcpMemory: undefined },
      ...{ tcpTwRecycle: undefined, tcpMtuProbing: undefined, conntrackIsLiberal: undefined },
      ...{ bridgeCallsIptables: undefined, ipv6Routes: undefined },
    }))
    subnetMetrics(registry, () => [])
    const openVswitch = new Registry()
    vswitchMetrics(openVswitch, () => ({
      ...{ hostname: 'n1', daemons: [], logs: [], failedRequests: 0, coverage: new Map() },
      ...{ databaseBytes: undefined, system: undefined, datapaths: undefined, interfaces: undefined },
    }))
    const all = await Promise.all([registry, node, openVswitch].map((one) => one.getMetricsAsJSON()))
    const names = new Set(all.flat().map(({ name }) => name))
    const documented = [...read('docs/reference/metrics.md').matchAll(/^\| `(\w+)`/gm)].map(
      (match) => match[1],
    )
    expect(documented.toSorted()).toEqual([...names, 'kube_ovn_event_loop_delay_seconds'].toSorted())
  })
})

describe('the folders of the features', () => {
  it('are called as the features, whose names are the owner marks of their rows', () => {
    const folders = packages
      .filter(({ tags }) => tags.includes('layer:feature') && tags.includes('plane:control'))
      .flatMap(({ directory }) => globSync(`${directory}/src/*/feature.ts`, { cwd: repository }))
      .map((path) => basename(dirname(path)))
    expect(folders.toSorted()).toEqual(controlFeatures.map(({ name }) => name).toSorted())
  })
})

describe('the suites of the features', () => {
  const suites = packages
    .filter(({ tags }) => tags.includes('plane:control'))
    .flatMap(({ directory }) => globSync(`${directory}/src/**/*.it.test.ts`, { cwd: repository }))
    .filter((path) => path.startsWith('libs/'))
    .toSorted()

  it.each(suites)('recompute everything after each step: %s', (path) => {
    const text = read(path)
    expect(text).toContain('.settle()')
    expect(text).not.toMatch(/kernel\.quiet\(|new Kernel\(/)
  })
})
