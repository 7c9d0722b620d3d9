import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cache } from './paths.mjs'
import { step } from './progress.mjs'
import { BootstrapError, findProgram, runCommand, withLock } from './run-command.mjs'

/** The Debian packages that bring the programs which the lab and the tests start on the host. */
const packageOfProgram = {
  accton: 'acct',
  ethtool: 'ethtool',
  faketime: 'faketime',
  ip: 'iproute2',
  nft: 'nftables',
  nsenter: 'util-linux',
  openssl: 'openssl',
  ping: 'iputils-ping',
  sysctl: 'procps',
  tmux: 'tmux',
}

/**
 * Installs the Debian packages whose programs are missing, all in one go.
 *
 * @param {Record<string, string>} [programs] program → package, beside those that are always needed
 */
export async function ensureDebianPackages(programs = {}) {
  const wanted = { ...packageOfProgram, ...programs }
  const missing = Object.keys(wanted).filter((program) => findProgram(program) === undefined)
  if (missing.length === 0) return
  const packages = [...new Set(missing.map((program) => wanted[program]))]
  if (process.getuid?.() !== 0 || findProgram('apt-get') === undefined)
    throw new BootstrapError(
      `${missing.join(', ')} not found: install ${packages.join(', ')} (on Debian this command does it itself when run as root)`,
    )
  await step(`install Debian packages ${packages.join(' ')}`, (report) =>
    withLock(join(cache, 'apt.lock'), async () => {
      const env = { DEBIAN_FRONTEND: 'noninteractive' }
      const onLine = (line) => report(line.slice(0, 60))
      await runCommand('apt-get', ['update', '-q'], { env, onLine })
      const options = ['-o', 'Dpkg::Use-Pty=0', '-o', 'DPkg::Lock::Timeout=300']
      const available = await withoutUnknown(packages)
      await runCommand('apt-get', ['install', '-yq', '--no-install-recommends', ...options, ...available], {
        env,
        onLine,
      })
    }),
  )
}

/** Debian 13 has Docker's command line in a package of its own, Debian 12 does not. */
async function withoutUnknown(packages) {
  const known = await runCommand('apt-cache', ['pkgnames'])
  const names = new Set(known.split('\n'))
  return packages.filter((name) => names.has(name))
}

/** Says whether systemd runs this machine, so that services are started by it. */
export function hasSystemd() {
  return existsSync('/run/systemd/system')
}
