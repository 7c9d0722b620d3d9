import { testFirstLine } from './test-first-line.ts'

testFirstLine('two nodes, dual stack, installed by Helm', { id: 'e2e' })
