export { docker, run } from './command.ts'
export { CommandFailedError } from './errors.ts'
export { ensureTestImage, type ImageSource } from './image.ts'
export { ensureTestNetwork, testLabel, testNetwork } from './network.ts'
