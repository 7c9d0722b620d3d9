import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { commands } from './src/commands.mjs'
import { ensureDebianPackages } from './src/debian.mjs'
import { ensureBaseImage, ensureDockerEngine } from './src/docker.mjs'
import { ensureGoPrograms, ensureImagePrograms, goProgramDirectories } from './src/go-programs.mjs'
import { cache, nodeBin, pnpmBin, repository } from './src/paths.mjs'
import { BootstrapError } from './src/run-command.mjs'
import { ensureToolchain, ensureWorkspace } from './src/toolchain.mjs'

/**
 * Makes the machine ready for a command of this project and runs it on the pinned Node.
 *
 * Plain JavaScript without dependencies, because it runs before anything is installed, on Node 20 or newer.
 */
async function main([name, ...args]) {
  const command = commands[name]
  if (command === undefined)
    throw new BootstrapError(`Unknown command ${name}; known: ${Object.keys(commands).join(', ')}`)
  if (process.platform !== 'linux')
    throw new BootstrapError('This needs Linux: the network under test is Linux')
  // The row types are generated from schemas of Debian's packages, which a container fetches on request.
  const needsContainers = (command.containers && !isQuestion(command, args)) || args.includes('--fetch')
  if (needsContainers && command.root && process.getuid() !== 0)
    throw new BootstrapError(
      `npm run ${name} takes root, and this user is ${process.getuid()}: it enters network namespaces\n→ run it as root, e.g. with sudo`,
    )
  await Promise.all([prepareWorkspace(), needsContainers ? prepareContainers() : undefined])
  if (needsContainers && command.kubernetes) await ensureGoPrograms()
  if (needsContainers && command.imagePrograms) await ensureImagePrograms()
  if (needsContainers && command.images) {
    // What a command prints may be for a program, so this goes where progress goes.
    const exitCode = await runProgram(commands.images.main, [], ['inherit', 2, 2])
    if (exitCode !== 0) throw new BootstrapError('the images could not be built')
  }
  process.exitCode = await runProgram(command.main, args)
}

/** Whether the command only says something, or deals with what is there: nobody should wait for builds then. */
function isQuestion({ atOnce = [], fileOf }, args) {
  if (args.includes('--help') || args.includes('--list') || atOnce.includes(args[0])) return true
  return (
    fileOf !== undefined &&
    !(args.length > 0 && args.every((name) => existsSync(join(repository, fileOf(name)))))
  )
}

async function prepareWorkspace() {
  await ensureToolchain()
  await ensureWorkspace()
}

async function prepareContainers() {
  await ensureDebianPackages()
  await ensureDockerEngine()
  await ensureBaseImage()
}

/** Runs a program of the workspace in the foreground; signals of the terminal reach it by themselves. */
function runProgram(main, args, stdio = 'inherit') {
  const child = spawn(join(nodeBin, 'node'), [join(repository, main), ...args], {
    cwd: repository,
    stdio,
    env: {
      ...process.env,
      KUBE_OVN_CACHE: cache,
      // Tests start programs from their sources hundreds of times: most of a start is reading and compiling those.
      NODE_COMPILE_CACHE: join(repository, 'node_modules/.cache/compile'),
      PATH: [nodeBin, pnpmBin, ...goProgramDirectories(), process.env.PATH, '/usr/sbin', '/sbin'].join(':'),
    },
  })
  const ignore = () => {}
  const pass = (signal) => child.kill(signal)
  process.on('SIGINT', ignore)
  process.on('SIGTERM', pass)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      process.off('SIGINT', ignore)
      process.off('SIGTERM', pass)
      resolve(code ?? 128 + constants.signals[signal])
    })
  })
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(error instanceof BootstrapError ? `${error.message}\n` : `${error.stack}\n`)
  process.exitCode = 1
}
