import { KubeForbiddenError, nodes, pods, type Resource } from '@kube-ovn/kube'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { renderChart } from './chart.ts'
import { chartCrds, foreignCrds } from './crds.ts'
import { keptRights } from './kept-rights.ts'
import type { KubeApi } from './kube-api.ts'
import { describeRight, rightsOf } from './rights.ts'
import { startKubeApi } from './start-kube-api.ts'

const account = 'kube-system/ovn'

let api: KubeApi
beforeAll(async () => {
  api = await startKubeApi({ crds: [chartCrds, foreignCrds], accounts: {} })
})
afterAll(() => api[Symbol.asyncDispose]())
beforeEach(() => api.reset())

describe('an account of the chart', () => {
  it('may do what the chart lets it, over resets, and what it did is a right that is used', async () => {
    const right = `${account} may list pods`
    expect(await api.unusedRights()).toContain(right)
    const client = await api.openClient('test', account)
    await client.list(pods)
    await api.reset()
    await client.list(pods)
    expect(await api.unusedRights()).not.toContain(right)
    expect(await api.missingRights()).toEqual([])
  })

  it('may do nothing else, and what it lacked is told until the next reset', async () => {
    const client = await api.openClient('test', account)
    await expect(client.remove(nodes, { name: 'n1' })).rejects.toThrow(KubeForbiddenError)
    const ref = { namespace: 'default', name: 'web' }
    await expect(
      client.patch(pods, ref, 'application/merge-patch+json', {}, { subresource: 'status' }),
    ).rejects.toThrow(KubeForbiddenError)
    await expect(client.watchStream(secrets)).rejects.toThrow(KubeForbiddenError)
    expect(await api.missingRights()).toEqual([
      `${account} may delete nodes`,
      `${account} may patch pods/status`,
      `${account} may watch secrets`,
    ])
    await api.reset()
    expect(await api.missingRights()).toEqual([])
  })

  it('counts as somebody who writes', async () => {
    const client = await api.openClient('test', account)
    await api.client.create(nodes, { metadata: { name: 'n1' } })
    await client.patch(nodes, { name: 'n1' }, 'application/merge-patch+json', {
      metadata: { labels: { a: 'b' } },
    })
    expect(await api.writes()).toMatchObject([
      { verb: 'patch', resource: 'nodes', name: 'n1', user: 'system:serviceaccount:kube-system:ovn' },
    ])
  })
})

describe('the rights of the chart', () => {
  it('are about resources and verbs that there are, none of them a wildcard', async () => {
    const rights = rightsOf(await renderChart())
    expect(rights.filter((right) => [right.verb, right.group, right.resource].includes('*'))).toEqual([])
    // What others define is not all here.
    const known = (await groupsServed()).filter(({ name }) => rights.some(({ group }) => group === name))
    const groups = known.map(({ name }) => name)
    expect(groups).toContain('kubeovn.io')
    const served = new Set((await Promise.all(known.map(verbsOf))).flat())
    const superfluous = rights.filter(
      ({ group, resource, verb }) => groups.includes(group) && !served.has(`${verb} ${resource} ${group}`),
    )
    expect(superfluous.map(describeRight)).toEqual([])
  })

  it('that are kept for a reason are there', async () => {
    const rights = rightsOf(await renderChart()).map(describeRight)
    expect(rights).toEqual(expect.arrayContaining(keptRights.flatMap((kept) => kept.rights)))
  })
})

const secrets: Resource = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
}

interface Group {
  readonly name: string
  readonly versions: readonly { readonly groupVersion: string }[]
}

interface GroupList {
  readonly groups: readonly Group[]
}

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[]
}

async function groupsServed(): Promise<readonly Group[]> {
  const { groups } = JSON.parse(await api.client.read('/apis')) as GroupList
  return [{ name: '', versions: [{ groupVersion: 'v1' }] }, ...groups]
}

/** What the API server serves of a group, as `VERB RESOURCE GROUP`. */
async function verbsOf({ name: group, versions }: Group): Promise<readonly string[]> {
  const root = group === '' ? '/api' : '/apis'
  const lists = await Promise.all(
    versions.map(async ({ groupVersion }) => {
      const { resources } = JSON.parse(await api.client.read(`${root}/${groupVersion}`)) as ResourceList
      return resources
    }),
  )
  return lists.flat().flatMap(({ name, verbs }) => verbs.map((verb) => `${verb} ${name} ${group}`))
}
