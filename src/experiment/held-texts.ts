/** What no episode trains on, so that what an adapter unlearns shows in its loss: texts, and a conversation. */

import type { ChatMessage } from '../records.ts';

/** Plain English. A model that knows only a world's words has a high loss here, and it may still rise. */
export const heldTexts: readonly string[] = [
  'The ferry left the harbour an hour late, and by the time it reached the island the market had closed. We bought bread from the last stall and ate it on the sea wall.',
  'A prime number has exactly two divisors, one and itself. There is no largest prime: multiply any finite list of them together, add one, and some prime outside the list divides the result.',
  'My grandmother kept her recipes on cards in a tin box. Most of them end in the middle of a sentence, because she knew the rest by heart.',
  'Water boils at a lower temperature in the mountains, since the air presses less on its surface. Beans therefore take longer to cook there.',
  'The library opens at nine on weekdays and at ten on Saturdays. Books can be kept for four weeks, and longer if nobody else has asked for them.',
];

/** A household task in the words of the bundled policy's expert, each turn read after all before it. */
export const heldConversation: readonly ChatMessage[] = [
  {
    role: 'user',
    content:
      'Task: put a clean plate in diningtable.\nYou are in the middle of a room. Looking quickly around you, you see a countertop 2, a countertop 1, a diningtable 1, and a sinkbasin 1.',
  },
  {
    role: 'assistant',
    content:
      'Thought: The task is a clean plate in diningtable. Next I try countertop 2.\nAction: go to countertop 2',
  },
  {
    role: 'user',
    content: 'You arrive at countertop 2. On the countertop 2, you see a kettle 1, and a bread 1.',
  },
  {
    role: 'assistant',
    content:
      'Thought: Check plate here: No, it stores kettle 1. Go on with countertop 1.\nAction: go to countertop 1',
  },
  {
    role: 'user',
    content: 'You arrive at countertop 1. On the countertop 1, you see a plate 2.',
  },
  {
    role: 'assistant',
    content:
      'Thought: Check plate 2: Good, it stands here. Grab plate 2 for the diningtable.\nAction: take plate 2 from countertop 1',
  },
  { role: 'user', content: 'You pick up the plate 2 from the countertop 1.' },
  {
    role: 'assistant',
    content:
      'Thought: Got plate 2, wanted is a clean plate in diningtable. sinkbasin 1 can make plate 2 clean.\nAction: go to sinkbasin 1',
  },
  {
    role: 'user',
    content: 'You arrive at sinkbasin 1. On the sinkbasin 1, you see nothing.',
  },
  {
    role: 'assistant',
    content:
      'Thought: Standing at sinkbasin 1, plate 2 in hand: a clean plate in diningtable. Wash it in sinkbasin 1.\nAction: clean plate 2 with sinkbasin 1',
  },
];
