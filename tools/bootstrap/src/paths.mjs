import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Pinned versions of everything that does not come from the lockfile. */
export const versions = JSON.parse(readFileSync(new URL('../versions.json', import.meta.url), 'utf8'))

/** The checkout. */
export const repository = resolve(import.meta.dirname, '../../..')

/** What is built or fetched once and shared by every checkout of this machine. */
export const cache =
  process.env.KUBE_OVN_CACHE ??
  (process.getuid?.() === 0 ? '/var/cache/kube-ovn' : join(homedir(), '.cache/kube-ovn'))

export const toolchainDirectory = join(cache, 'toolchain')
export const nodeBin = join(toolchainDirectory, 'node_modules/node/bin')
export const pnpmBin = join(toolchainDirectory, 'node_modules/.bin')
