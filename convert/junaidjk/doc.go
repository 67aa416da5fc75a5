// Package junaidjk converts the training corpus Junaidjk/function_calling.
//
// It is one CSV file, whose columns nobody has written down. An element is a row
// as an object of header and text, such as
//
//	{"Unnamed: 0": "7",
//	 "system": "SYSTEM: You have access to the following functions. Use them if required -\n{\"name\": \"price\", …}",
//	 "chat": "USER: What does lot 1 cost? ASSISTANT: <functioncall> {\"name\": \"price\", \"arguments\": '{\"lot\": 1}'} <|endoftext|>
//	   FUNCTION RESPONSE: {\"price\": 12} ASSISTANT: It costs 12. <|endoftext|>"}
//
// Columns are told by the option map, which says role=header for the roles
// query, tools, calls, answer, chat, system and messages, or else row by row, by
// their content. In this order, a column is
//
//   - chat, if it holds <functioncall> or FUNCTION RESPONSE and is no list, or
//     begins with USER:;
//   - system, if it begins with SYSTEM: or offers access to functions;
//   - messages, if it is a list of objects with from or role;
//   - calls, if it is an object with name and arguments, or a list of those;
//   - tools, if it is a list of objects with parameters, or one;
//   - query and answer, in this order, the columns with another text that has a
//     letter in it.
//
// A column of numbers is an index, and not used. A row without a chat, messages,
// or a query and calls is a parse_error that shows what its columns begin with.
//
// In a chat, calls have their arguments as an object or in single quotes, where
// the closing quote may be missing. Tools are the objects in the system text,
// each at the beginning of a line. A row without a call is no_call.
package junaidjk
