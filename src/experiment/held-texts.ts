/**
 * Ordinary texts that no episode trains on: what an adapter unlearns shows in their loss. Half are
 * plain English, half are turns of the household as its policy writes them.
 */

export const heldTexts: readonly string[] = [
  'The ferry left the harbour an hour late, and by the time it reached the island the market had closed. We bought bread from the last stall and ate it on the sea wall.',
  'A prime number has exactly two divisors, one and itself. There is no largest prime: multiply any finite list of them together, add one, and some prime outside the list divides the result.',
  'My grandmother kept her recipes on cards in a tin box. Most of them end in the middle of a sentence, because she knew the rest by heart.',
  'Water boils at a lower temperature in the mountains, since the air presses less on its surface. Beans therefore take longer to cook there.',
  'The library opens at nine on weekdays and at ten on Saturdays. Books can be kept for four weeks, and longer if nobody else has asked for them.',
  'Thought: I need a clean plate, so I look in the cabinets first.\nAction: go to cabinet 3',
  'Thought: The cabinet is closed. I open it.\nAction: open cabinet 3',
  'Thought: There is a plate here. I take it.\nAction: take plate 1 from cabinet 3',
  'Thought: I have the plate. Next I clean it at the sink.\nAction: go to sinkbasin 1',
  'Thought: The plate is clean. I put it on the table.\nAction: move plate 1 to diningtable 1',
];
