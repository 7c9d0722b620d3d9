import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, rmSync, watch } from 'node:fs'
import { request } from 'node:http'
import { basename, dirname, join } from 'node:path'
import { ensureDebianPackages, hasSystemd } from './debian.mjs'
import { cache } from './paths.mjs'
import { step } from './progress.mjs'
import { BootstrapError, findProgram, runCommand, withLock } from './run-command.mjs'

/** Every image of ours starts from it; see `ensureBaseImage` for where it comes from. */
const baseImage = 'debian:trixie-slim'

/** The engine must be on this machine: the lab enters the namespaces of its containers. */
const defaultHost = 'unix:///var/run/docker.sock'
const host = process.env.DOCKER_HOST || defaultHost
const socketPath = host.replace(/^unix:\/\//, '')

/** Makes sure that a Docker engine answers: installs and starts Debian's when there is none. */
export async function ensureDockerEngine() {
  // Whoever names another has one, and Debian's beside it could take its files.
  if (host !== defaultHost && !(await answers('/_ping')))
    throw new BootstrapError(
      `no Docker engine answers at ${host}, which DOCKER_HOST names\n→ name the socket of an engine of this machine (${defaultHost}), or unset DOCKER_HOST`,
    )
  if (findProgram('docker') === undefined)
    await ensureDebianPackages({ docker: 'docker-cli', dockerd: 'docker.io', iptables: 'iptables' })
  if (await answers('/_ping')) return
  if (process.getuid?.() !== 0)
    throw new BootstrapError(
      `No Docker engine answers at ${socketPath}: install and start one (Debian: apt-get install docker.io), or run this as root`,
    )
  await ensureDebianPackages({ docker: 'docker-cli', dockerd: 'docker.io', iptables: 'iptables' })
  await step('start the Docker engine', () =>
    withLock(join(cache, 'dockerd.lock'), async () => {
      if (await answers('/_ping')) return
      if (hasSystemd()) await runCommand('systemctl', ['start', 'docker'])
      else await startEngine()
    }),
  )
}

/** Starts dockerd so that it outlives us, and returns when it answers. */
async function startEngine() {
  const log = '/var/log/dockerd.log'
  mkdirSync(dirname(socketPath), { recursive: true })
  rmSync('/var/run/docker.pid', { force: true })
  const output = openSync(log, 'a')
  const engine = spawn(findProgram('dockerd') ?? 'dockerd', [], {
    detached: true,
    stdio: ['ignore', output, output],
  })
  const ended = new Promise((_, reject) => {
    engine.once('error', reject)
    engine.once('exit', (code) => reject(new BootstrapError(`dockerd ended with ${code}, see ${log}`)))
  })
  await Promise.race([ended, socketAnswers()])
  engine.removeAllListeners()
  engine.unref()
}

/** Resolves once somebody listens on the socket; the engine accepts early and answers when it is ready. */
function socketAnswers() {
  return new Promise((resolve) => {
    const watcher = watch(dirname(socketPath), (_, name) => {
      if (name === basename(socketPath)) void attempt()
    })
    async function attempt() {
      if (!(await answers('/_ping'))) return
      watcher.close()
      resolve(undefined)
    }
    void attempt()
  })
}

/** Asks the engine and says whether it answered with success. */
function answers(path) {
  return new Promise((resolve) => {
    const query = request({ socketPath, path, timeout: 60_000 }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode === 200))
    })
    query.once('timeout', () => query.destroy())
    query.once('error', () => resolve(false))
    query.end()
  })
}

/**
 * Makes sure that the base image exists: pulled where a registry can be reached, else made from Debian's packages,
 * so that the same Dockerfiles work on a machine that can pull and on one that can not.
 */
export async function ensureBaseImage() {
  if (await answers(`/images/${encodeURIComponent(baseImage)}/json`)) return
  await step(`base image ${baseImage}`, (report) =>
    withLock(join(cache, 'base-image.lock'), async () => {
      if (await answers(`/images/${encodeURIComponent(baseImage)}/json`)) return
      report('pull')
      if (await canPull()) return
      report('make it with mmdebstrap')
      await ensureDebianPackages({ mmdebstrap: 'mmdebstrap' })
      await makeBaseImage(report)
    }),
  )
}

async function canPull() {
  try {
    await runCommand('timeout', ['60', 'docker', 'pull', '-q', baseImage])
    return true
  } catch {
    return false
  }
}

async function makeBaseImage(report) {
  const archive = join(cache, 'trixie.tar')
  mkdirSync(cache, { recursive: true })
  rmSync(archive, { force: true })
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
  const trust = existsSync(keyring) ? [`--keyring=${keyring}`] : []
  await runCommand(
    'mmdebstrap',
    ['--variant=minbase', '--include=ca-certificates', ...trust, 'trixie', archive],
    { onLine: (line) => report(line.slice(0, 60)) },
  )
  await runCommand('docker', ['import', archive, baseImage])
  rmSync(archive)
}
