import { existsSync } from 'node:fs'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfigError } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import type { GoldenCase } from '@kube-ovn/testing-golden'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startController } from './controller-process.ts'
import { playCases } from './play.ts'
import { recordCase } from './record.ts'
import { startStage } from './stage.ts'

const repository = join(import.meta.dirname, '../../..')

const subnet = `
apiVersion: kubeovn.io/v1
kind: Subnet
metadata: { name: blue }
spec: { cidrBlock: 10.17.0.0/24 }
`

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-record-'))
  await writeFile(join(directory, 'subnet.yaml'), subnet)
  await writeFile(join(directory, '07-subnet-delete.yaml'), subnet)
})
afterAll(() => rm(directory, { recursive: true }))

function wanted(name: string, manifests: readonly string[]) {
  return {
    ...({
      directory: join(directory, 'mine', name),
      description: 'A subnet',
      profile: 'v4',
      flags: [],
    } as const),
    manifests: manifests.map((manifest) => join(directory, manifest)),
  }
}

function northbound(golden: GoldenCase, step: string): Promise<string> {
  return readFile(join(golden.directory, step, 'northbound.json'), 'utf8')
}

describe('a recording', { timeout: 300_000 }, () => {
  it('has a step for each manifest, and a replay equals it', async () => {
    const golden = await recordCase(repository, wanted('subnet', ['subnet.yaml', '07-subnet-delete.yaml']))
    expect((await readdir(golden.directory)).sort()).toEqual([
      '01',
      '01-subnet.yaml',
      '02',
      '02-subnet-delete.yaml',
      'case.json',
    ])
    expect(await northbound(golden, '01')).toContain('"name": "blue"')
    expect(await northbound(golden, '02')).not.toContain('"name": "blue"')
    for await (const { results } of playCases([golden], repository, [], directory)) {
      expect(results.flatMap((result) => [...result.northbound, ...result.kubernetes])).toEqual([])
      expect(results).toHaveLength(2)
    }
  })

  it('on another cluster leaves that as it was', async () => {
    await using stage = await startStage('v4')
    const whose: GoldenCase = {
      ...{ name: 'mine/foreign', directory, description: '', profile: 'v4', flags: [], nodes: 0 },
      ...{ hasStart: false, steps: [] },
    }
    await using _controller = await startController(repository, stage, whose, directory)
    const cluster = { kubeconfig: stage.kube.kubeconfigPath, northbound: stage.northbound.address }
    const golden = await recordCase(repository, wanted('foreign', ['subnet.yaml']), cluster)
    expect(await northbound(golden, '01')).toContain('"name": "blue"')
    expect(await stage.kube.client.get(subnetResource, { name: 'blue' })).toBeUndefined()
  })

  it('that fails leaves nothing', async () => {
    const cluster = { kubeconfig: join(directory, 'nothing') }
    await expect(recordCase(repository, wanted('failed', ['subnet.yaml']), cluster)).rejects.toThrow(
      KubeConfigError,
    )
    expect(existsSync(join(directory, 'mine', 'failed'))).toBe(false)
  })
})
