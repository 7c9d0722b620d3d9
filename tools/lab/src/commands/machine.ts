import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findLab } from '../cluster/cluster.ts'
import { containerName } from '../cluster/names.ts'
import { inspectContainer } from '../docker/container.ts'
import { LabUsageError } from '../errors.ts'
import { labDirectory } from '../paths.ts'
import { runProgram } from '../program.ts'

/** Runs a command on a machine of a lab with the terminal's input and output. */
export async function execIn(
  id: string,
  [machine = 'node-1', ...command]: readonly string[],
): Promise<number> {
  if (!(await findMachine(id, machine)).isRunning)
    throw new LabUsageError('the machine does not run', {
      argument: machine,
      cure: `start it: npm run lab -- fault undo --id ${id}, or npm run lab -- node reboot ${machine} --id ${id}`,
    })
  const { pid } = await inspectContainer(containerName(id, machine))
  const words = command.length === 0 ? ['bash'] : command
  const child = spawn('nsenter', ['--all', `--target=${pid}`, '--', ...words], { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

/** Prints the last lines of every log of a machine, also of one that does not run. */
export async function printLogs(id: string, [machine = 'control']: readonly string[]): Promise<number> {
  await findMachine(id, machine)
  const directory = join(labDirectory(id), 'logs', machine)
  for (const file of readLogNames(directory)) {
    const path = join(directory, file)
    process.stdout.write(`── ${path}\n${await runProgram('tail', ['-n', '20', path])}`)
  }
  return 0
}

function readLogNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
  } catch (cause) {
    throw new LabUsageError(
      'the logs of the machine are not here',
      { argument: directory, cure: 'ask in the checkout that the lab was made from' },
      { cause },
    )
  }
}

/**
 * Finds a machine of a lab by its name.
 *
 * @throws {LabUsageError} naming the labs, or the machines, that there are
 */
async function findMachine(id: string, name: string) {
  const { machines } = await findLab(id)
  const found = machines.find((machine) => machine.name === name)
  if (found !== undefined) return found
  const known = machines.map((machine) => machine.name).toSorted()
  throw new LabUsageError('there is no such machine', { argument: name, cure: `one of ${known.join(', ')}` })
}
