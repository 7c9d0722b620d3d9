import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  aclLoggingAnnotation,
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
  providerNetworkAnnotations,
  providerNetworkKeysOf,
  qosAnnotations,
  serviceLabel,
  sliceLabel,
  vipAnnotations,
  vpcAnnotations,
} from '@kube-ovn/annotations'
import { controlFeatures } from '@kube-ovn/assembly-controller'
import { describe, expect, it } from 'vitest'
import { metricsOf } from './registered-metrics.ts'
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

describe('docs', () => {
  it('names files of tests that there are', () => {
    const [sources, pages] = ['{apps,libs,tools}/**/src/**/*.test.ts', 'docs/**/*.md'].map((pattern) =>
      globSync(pattern, { cwd: repository, exclude: ['**/node_modules'] }),
    ) as [string[], string[]]
    const there = new Set(sources.map((path) => basename(path)))
    const missing = pages.flatMap((page) =>
      [...read(page).matchAll(/`([\w./-]+\.test\.ts)`/g)]
        .filter(([, path = '']) => !there.has(basename(path)))
        .map(([, path]) => `${page}: ${path}`),
    )
    expect(missing).toEqual([])
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
    {
      title: 'Namespace',
      keys: [...Object.values(namespaceAnnotations), aclLoggingAnnotation].map(({ key }) => key),
    },
    {
      title: 'Node',
      keys: [...Object.values(nodeAnnotations), ...nodeRates]
        .map(({ key }) => key)
        .concat(exclude, nic, problem),
    },
    { title: 'ProviderNetwork', keys: Object.values(providerNetworkAnnotations).map(({ key }) => key) },
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
  it('has a row with the type of each metric that is not in the pages of Node.js or of the pinger’s checks', async () => {
    const programs = ['controller', 'agent', 'pinger', 'monitor', 'speaker'] as const
    const shown = (await Promise.all(programs.map(metricsOf))).flatMap((metrics) => [...metrics])
    const types = new Map(
      shown
        .filter(([name]) => !/^(process|nodejs|pinger)_/.test(name))
        .map(([name, { type }]) => [name, type]),
    )
    const documented = read('docs/reference/metrics.md').matchAll(/^\| `(\w+)` +\| (\w+)/gm)
    expect([...documented].map(([, name, type]) => `${name} ${type}`).toSorted()).toEqual(
      Array.from(types, ([name, type]) => `${name} ${type}`).toSorted(),
    )
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
