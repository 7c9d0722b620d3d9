import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cache, nodeBin, pnpmBin, repository, toolchainDirectory, versions } from './paths.mjs'
import { step } from './progress.mjs'
import { runCommand, withLock } from './run-command.mjs'
import { isUpToDate, writeStamp } from './stamp.mjs'

/** Fetches the pinned Node and pnpm from npm, which is the only thing that the machine's own Node is used for. */
export async function ensureToolchain() {
  if (hasToolchain()) return
  await step(`fetch Node ${versions.node} and pnpm ${versions.pnpm}`, () =>
    withLock(join(cache, 'toolchain.lock'), async () => {
      if (hasToolchain()) return
      mkdirSync(toolchainDirectory, { recursive: true })
      writeFileSync(join(toolchainDirectory, 'package.json'), '{ "name": "toolchain", "private": true }\n')
      const packages = [`node@${versions.node}`, `pnpm@${versions.pnpm}`]
      await runCommand('npm', ['install', '--no-fund', '--no-audit', '--save-exact', ...packages], {
        cwd: toolchainDirectory,
      })
    }),
  )
}

function hasToolchain() {
  return (
    existsSync(join(nodeBin, 'node')) &&
    installedVersion('node') === versions.node &&
    installedVersion('pnpm') === versions.pnpm
  )
}

function installedVersion(name) {
  try {
    return JSON.parse(readFileSync(join(toolchainDirectory, 'node_modules', name, 'package.json'), 'utf8'))
      .version
  } catch {
    return undefined
  }
}

/** Installs the workspace's packages when the lockfile or a package.json changed since the last time. */
export async function ensureWorkspace() {
  const inputs = [
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    'package.json',
    '*/*/package.json',
    'libs/*/*/package.json',
  ]
  const stamp = join(repository, 'node_modules/.kube-ovn-installed')
  if (isUpToDate(stamp, inputs)) return
  await step('install packages', (report) =>
    withLock(join(cache, 'pnpm.lock'), async () => {
      await runCommand(join(pnpmBin, 'pnpm'), ['install', '--frozen-lockfile', '--reporter=append-only'], {
        cwd: repository,
        env: { PATH: `${nodeBin}:${pnpmBin}:${process.env.PATH}`, CI: 'true' },
        onLine: (line) => report(line.slice(0, 60)),
      })
      writeStamp(stamp, inputs)
    }),
  )
}
