import { spawn } from 'node:child_process'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

/** A failure that the user can cure; its message is printed without a stack. */
export class BootstrapError extends Error {}

/**
 * Runs a program to its end and returns its standard output.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, onLine?: (line: string) => void }} [options]
 *   `onLine` gets every line of both outputs as it appears.
 * @returns {Promise<string>}
 */
export function runCommand(command, args, { cwd, env, onLine } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const tail = []
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        onLine?.(line)
        tail.push(line)
        if (tail.length > 40) tail.shift()
      })
    child.on('error', (error) =>
      reject(new BootstrapError(`${command} could not be started: ${error.message}`)),
    )
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(output)
      reject(
        new BootstrapError(`${command} ${args.join(' ')} ended with ${code ?? signal}:\n${tail.join('\n')}`),
      )
    })
  })
}

/**
 * Finds a program as a shell would, and in the directories that only root has on its path.
 *
 * @param {string} name
 * @returns {string | undefined}
 */
export function findProgram(name) {
  const directories = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/local/go/bin',
    '/usr/sbin',
    '/sbin',
  ]
  for (const directory of directories) {
    const path = join(directory, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      continue
    }
  }
  return undefined
}

/**
 * Runs `work` while no other process of this machine holds the lock `path`.
 *
 * The lock is held by a child whose input is our pipe, so it is released however we end.
 *
 * @param {string} path
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 * @template T
 */
export async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true })
  const holder = spawn('flock', [path, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await new Promise((resolve, reject) => {
    holder.once('error', reject)
    holder.stdout.once('data', resolve)
    holder.once('exit', () => reject(new BootstrapError(`the lock ${path} could not be taken`)))
  })
  try {
    return await work()
  } finally {
    holder.stdin.end()
  }
}
