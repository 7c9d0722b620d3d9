import { mkdtempDisposableSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fileToken } from './in-cluster.ts'

it('goes on with the token that it has while the file can not be read, and takes the next one', async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'kube-ovn-token-'))
  const path = join(directory.path, 'token')
  const token = fileToken(path)
  await expect(token(false)).rejects.toMatchObject({ code: 'kube-config' })
  writeFileSync(path, 'one\n')
  expect(await token(true)).toEqual({ authorization: 'Bearer one' })
  rmSync(path)
  expect(await token(true)).toEqual({ authorization: 'Bearer one' })
  writeFileSync(path, 'two\n')
  expect(await token(true)).toEqual({ authorization: 'Bearer two' })
})
