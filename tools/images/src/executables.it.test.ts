import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { buildExecutables, isOwn, platforms, type Platform } from './executables.ts'
import { executablesDirectory, productVersion } from './paths.ts'
import { buildCommand } from './programs.ts'

const run = promisify(execFile)

/** The engines of the other platforms are 200 MB of downloads. */
const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
beforeAll(buildCommand)

/** How executables begin: ELF, Mach-O, PE; and the machine that they are for, with where in them that is said. */
const formats: Readonly<Record<string, { readonly magic: string; readonly machine: string }>> = {
  'linux-amd64': { magic: '7f454c4602', machine: '3e00' },
  'linux-arm64': { magic: '7f454c4602', machine: 'b700' },
  'darwin-amd64': { magic: 'cffaedfe', machine: '07000001' },
  'darwin-arm64': { magic: 'cffaedfe', machine: '0c000001' },
  'windows-amd64': { magic: '4d5a', machine: '6486' },
  'windows-arm64': { magic: '4d5a', machine: '64aa' },
}

async function machineOf({ os }: Platform, path: string): Promise<{ magic: string; machine: string }> {
  await using file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(4096), 0, 4096, 0)
  const hex = (from: number, length: number): string => buffer.subarray(from, from + length).toString('hex')
  if (os === 'linux') return { magic: hex(0, 5), machine: hex(18, 2) }
  if (os === 'darwin') return { magic: hex(0, 4), machine: hex(4, 4) }
  return { magic: hex(0, 2), machine: hex(buffer.readUInt32LE(0x3c) + 4, 2) }
}

describe.each(platforms.map((platform) => ({ platform, name: `${platform.os}-${platform.arch}` })))(
  'kubectl-ko for $name',
  ({ platform, name }) => {
    it('is an executable of that platform, not too large, in an archive that the manifest knows', async ({
      skip,
    }) => {
      skip(!isDeep && !isOwn(platform), 'its engine is a download of 40 MB: KUBE_OVN_DEEP=1 has it made')
      const [archive] = await buildExecutables('https://example.com/v1', [platform])
      if (archive === undefined) return expect.unreachable('one was asked for')
      const path = join(executablesDirectory, name, archive.executable)
      expect(await machineOf(platform, path)).toEqual(formats[name])
      expect((await stat(path)).size).toBeLessThanOrEqual(120e6)
      const file = join(executablesDirectory, archive.file)
      const { stdout } = await run('tar', ['--list', '--verbose', '--gzip', `--file=${file}`])
      expect(stdout.trimEnd().split('\n')).toEqual([
        expect.stringMatching(new RegExp(`^-rwx[r-]-x[r-]-x .* ${archive.executable}$`)),
        expect.stringMatching(/^-rw-.* LICENSE$/),
      ])
      const manifest = parse(await readFile(join(executablesDirectory, 'ko.yaml'), 'utf8')) as {
        spec: { platforms: readonly { uri: string; sha256: string }[] }
      }
      const sha256 = createHash('sha256')
        .update(await readFile(file))
        .digest('hex')
      expect(manifest.spec.platforms).toContainEqual(
        expect.objectContaining({ uri: `https://example.com/v1/${archive.file}`, sha256 }),
      )
    })

    it('starts', async ({ skip }) => {
      skip(!isOwn(platform), 'it runs on another platform')
      await buildExecutables('https://example.com/v1', [platform])
      const path = join(executablesDirectory, name, 'kubectl-ko')
      const { stdout } = await run(path, ['--version'], { env: {} })
      expect(stdout).toBe(`${productVersion}\n`)
    })
  },
)
