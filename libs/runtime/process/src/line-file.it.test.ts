import { execFileSync } from 'node:child_process'
import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** Fills a disk of a page with lines, makes room, and prints what the file has in the end. */
const program = `
  import { readFileSync, rmSync, writeFileSync } from 'node:fs'
  import { LineFile } from ${JSON.stringify(join(import.meta.dirname, 'line-file.ts'))}
  const directory = process.argv[1]
  writeFileSync(directory + '/filler', 'x'.repeat(4096))
  const file = new LineFile(directory + '/logs/agent.log')
  const answers = []
  for (const name of ['first', 'torn', 'lost']) answers.push(file.write(name.repeat(500) + '\\n')?.code)
  rmSync(directory + '/filler')
  answers.push(file.write('last\\n')?.code)
  const lines = readFileSync(directory + '/logs/agent.log', 'utf8').trim().split('\\n')
  console.log(JSON.stringify([answers, lines.map((line) => line.slice(0, 4))]))
`

it('begins a new line when the disk has room again for what it took half of', () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'kube-ovn-disk-'))
  const script = 'mount -t tmpfs -o size=8k none "$1" && exec "$2" --input-type=module --eval "$3" "$1"'
  const args = ['--mount', 'sh', '-c', script, 'sh', directory.path, process.execPath, program]
  const [answers, lines] = JSON.parse(execFileSync('unshare', args, { encoding: 'utf8' })) as unknown[]
  expect([answers, lines]).toEqual([
    [null, 'ENOSPC', 'ENOSPC', null],
    ['firs', 'torn', 'last'],
  ])
})
