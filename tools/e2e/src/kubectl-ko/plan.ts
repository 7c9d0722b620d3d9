import { applyAll, deleteAll } from '@kube-ovn/lab'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Ko, KoSuite } from './suite.ts'

/** What a manifest would change. */
export function describePlan(given: () => KoSuite): void {
  const ko: Ko = (...args) => given().ko(...args)

  describe('plan', () => {
    const manifest = `
  apiVersion: kubeovn.io/v1
  kind: Subnet
  metadata: { name: quay }
  spec: { cidrBlock: 10.91.0.0/24 }
  `
    interface Plan {
      readonly rows: readonly { readonly action: string; readonly table: string; readonly row: string }[]
      readonly refusals: readonly object[]
    }

    async function write(name: string, text: string): Promise<string> {
      const path = join(given().directory, name)
      await writeFile(path, text)
      return path
    }

    /** Identifiers of rows that the Northbound has. */
    async function rowsOf(table: string): Promise<readonly string[]> {
      const { stdout } = await ko('nbctl', '--bare', '--columns=external_ids', 'list', table)
      return [...stdout.matchAll(/\bid=(\S+)/g)].map(([, id = '']) => `${table} ${id}`)
    }

    it('announces what then comes, and changes nothing by itself', async () => {
      const path = await write('quay.yaml', manifest)
      const tables = ['Logical_Switch', 'Logical_Router_Port', 'Logical_Router_Policy', 'Port_Group']
      const present = async (): Promise<readonly string[]> => (await Promise.all(tables.map(rowsOf))).flat()
      const before = new Set(await present())
      const { exitCode, stdout } = await ko('plan', '-f', path, '-o', 'json')
      expect(exitCode).toBe(0)
      expect(new Set(await present())).toEqual(before)
      const announced = (JSON.parse(stdout) as Plan).rows
        .filter(({ action, table }) => action === 'add' && tables.includes(table))
        .map(({ table, row }) => `${table} ${row}`)
      expect(announced).toContain('Logical_Switch ls/quay')
      const quay = {
        apiVersion: 'kubeovn.io/v1',
        kind: 'Subnet',
        metadata: { name: 'quay' },
        spec: { cidrBlock: '10.91.0.0/24' },
      }
      await applyAll(given().cluster.api, [quay])
      try {
        await expect
          .poll(async () => (await present()).filter((row) => !before.has(row)).toSorted(), {
            timeout: 180_000,
          })
          .toEqual(announced.toSorted())
        expect((await ko('plan', '-f', path)).stdout).toContain('0 rows to add, 0 to change, 0 to remove')
        const gone = JSON.parse((await ko('plan', '--delete', '-f', path, '-o', 'json')).stdout) as Plan
        expect(gone.rows).toContainEqual(expect.objectContaining({ action: 'remove', row: 'ls/quay' }))
      } finally {
        await deleteAll(given().cluster.api, [quay])
      }
    })

    it('tells what would be refused, and ends with 1', async () => {
      const path = await write('overlaps.yaml', manifest.replace('10.91.0.0/24', '10.16.0.0/24'))
      const { exitCode, stdout } = await ko('plan', '-f', path)
      expect(exitCode).toBe(1)
      expect(stdout).toContain('refused, subnet/quay: subnet conflicts with something that exists')
    })

    it('ends with 2 for what is no manifest, and with 1 for whom it is not', async () => {
      expect(await ko('plan', '-f', 'no-such-file')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('write the path of a manifest'),
      })
      const path = await write('quay.yaml', manifest)
      expect(await ko('--as', 'nobody', 'plan', '-f', path)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('ask for the ClusterRole'),
      })
    })
  })
}
